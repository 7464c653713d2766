// SPDX-License-Identifier: Apache-2.0
// Which setting wins, and the shipped configuration.
#include "app/config.h"

#include <fstream>

#include "app/cli_fixture.h"

namespace sawbill::app {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::StartsWith;

// Prices and configuration.

TEST_F(CliTest, FlagWinsOverVariableOverUserConfigOverSystemConfig) {
  const auto currency = [&](std::vector<std::string> args) {
    args.insert(args.begin(), {"report", "--format", "json", "/logs/gpu.csv"});
    EXPECT_EQ(Run(args), 0) << Err();
    const size_t at = Out().find("\"currency\": \"");
    return at == std::string::npos ? "" : Out().substr(at + 13, 3);
  };
  EXPECT_EQ(currency({}), "USD");
  fs_.Put("/etc/sawbill/sawbill.toml", "currency = \"CHF\"\nmin_saving = 3\n");
  EXPECT_EQ(currency({}), "CHF");
  fs_.Put("/users/u/.config/sawbill/sawbill.toml", "currency = \"SEK\"\n");
  EXPECT_EQ(currency({}), "SEK");
  env_.vars["SAWBILL_CURRENCY"] = "JPY";
  EXPECT_EQ(currency({}), "JPY");
  EXPECT_EQ(currency({"--currency", "eur"}), "EUR");
  env_.vars.erase("SAWBILL_CURRENCY");
  fs_.Put("/x.toml", "lang = \"en\"\n");
  EXPECT_EQ(currency({"--config", "/x.toml"}), "USD") << "--config stands in for both";
}

TEST_F(CliTest, ConfigErrorsNamePlaceAndTheNearestKey) {
  fs_.Put("/users/u/.config/sawbill/sawbill.toml", "lang = \"en\"\ncurency = \"EUR\"\n");
  EXPECT_EQ(Run({"report", "/logs/gpu.csv"}), 2);
  EXPECT_THAT(Err(),
              HasSubstr("/users/u/.config/sawbill/sawbill.toml:2:1: unknown key 'curency'; did you mean 'currency'?"));
  EXPECT_EQ(Run({"--help"}), 0) << "help works with a broken configuration";
  EXPECT_EQ(Run({"version"}), 0);
  EXPECT_EQ(Run({"doctor"}), 2) << "the doctor says that it is broken";
  EXPECT_THAT(Out(), HasSubstr("did you mean 'currency'?"));
}

TEST_F(CliTest, LanguageOfTheConfigurationCountsForErrorsAndHelp) {
  fs_.Put("/users/u/.config/sawbill/sawbill.toml", "lang = \"zh\"\n");
  EXPECT_EQ(Run({"--help"}), 0);
  EXPECT_THAT(Out(), HasSubstr("用法"));
  EXPECT_EQ(Run({"report", "--nonsense"}), 2);
  EXPECT_THAT(Err(), HasSubstr("没有参数"));
}

TEST_F(CliTest, PathsInTheConfigurationAreTakenFromItsFolder) {
  fs_.Put("/cfg/sawbill.toml",
          "prices = [\"p.toml\"]\n[[price]]\nmodel = \"other\"\nper_hour = 1\ncurrency = \"EUR\"\n");
  fs_.Put("/cfg/p.toml",
          "currency = \"EUR\"\n[[price]]\nmodel = \"NVIDIA TEST 8GB\"\nper_hour = 36\nsource = \"list\"\n");
  EXPECT_EQ(Run({"report", "--config", "/cfg/sawbill.toml", "--format", "json", "/logs/gpu.csv"}), 0) << Err();
  EXPECT_THAT(Out(), AllOf(HasSubstr("\"price_per_hour\": 36"), HasSubstr("\"currency\": \"EUR\"")));
}

TEST_F(CliTest, APriceForEveryCardBeatsAFileWhateverItsCurrency) {
  fs_.Put("/p.toml", "currency = \"USD\"\n[[price]]\nuuid = \"GPU-1111\"\nper_hour = 36\n");
  EXPECT_EQ(
      Run({"report", "--prices", "/p.toml", "--price", "7", "--currency", "EUR", "--format", "json", "/logs/gpu.csv"}),
      0)
      << Err();
  EXPECT_THAT(Out(), HasSubstr("\"price_per_hour\": 7"));
  EXPECT_EQ(Run({"report", "--prices", "/p.toml", "--currency", "EUR", "/logs/gpu.csv"}), 2)
      << "amounts are not converted";
}

TEST_F(CliTest, LabelsOfCardsComeFromTheConfiguration) {
  fs_.Put("/c.toml", "[[card]]\nuuid = \"GPU-1111\"\nlabel = \"team-a\"\n");
  EXPECT_EQ(Run({"report", "--config", "/c.toml", "--label", "team-a", "--format", "json", "/logs/gpu.csv"}), 0)
      << Err();
  EXPECT_THAT(Out(), HasSubstr("\"label\": \"team-a\""));
  EXPECT_EQ(Run({"report", "--config", "/c.toml", "--label", "team-b", "/logs/gpu.csv"}), 2);
}

TEST_F(CliTest, ShippedConfigurationIsSoundWithAndWithoutItsComments) {
  std::ifstream in(std::string(SAWBILL_SOURCE_DIR) + "/examples/sawbill.toml");
  ASSERT_TRUE(in.good());
  std::string line, plain, bare;
  while (std::getline(in, line)) {
    plain += line + "\n";
    if (line.size() > 1 && line[0] == '#' && line[1] != ' ') line = line.substr(1);
    bare += line + "\n";
  }
  Config config;
  const Status as_shipped = ReadConfig(plain, "sawbill.toml", "/users/u", &config);
  EXPECT_TRUE(as_shipped.ok()) << as_shipped.message();
  EXPECT_FALSE(config.data || config.currency || config.rules) << "every setting is commented out";
  const Status uncommented = ReadConfig(bare, "/c/sawbill.toml", "/users/u", &config);
  EXPECT_TRUE(uncommented.ok()) << uncommented.message();
  EXPECT_EQ(config.labels.at("GPU-00000000-0000-0000-0000-000000000000"), "team-a");
  for (const std::string& key : ConfigKeys()) {
    const std::string name = key.substr(key.find('.') == std::string::npos ? 0 : key.find('.') + 1);
    EXPECT_TRUE(bare.find("\n" + name + " = ") != std::string::npos ||
                bare.find("[[" + name + "]]") != std::string::npos)
        << key;
  }
  fs_.Put("/c/my-prices.toml", "");
  fs_.Put("/c/my-rules.toml", "schema = \"sawbill.rules/1\"\n");
  fs_.Put("/c/sawbill.toml", bare);
  EXPECT_EQ(Run({"report", "--config", "/c/sawbill.toml", "/logs/gpu.csv"}), 0) << Err();
}

TEST_F(CliTest, PricesListsWhatIsKnownAndHowToGiveWhatIsNot) {
  EXPECT_EQ(Run({"prices", "/logs/gpu.csv"}), 0) << Err();
  EXPECT_THAT(Out(), AllOf(HasSubstr("No price is known"), HasSubstr("--price \"NVIDIA TEST 8GB=")));
  EXPECT_EQ(Run({"prices", "--price", "NVIDIA TEST 8GB=3", "/logs/gpu.csv"}), 0);
  EXPECT_THAT(Out(), AllOf(HasSubstr("model \"NVIDIA TEST 8GB\""), HasSubstr("3 USD"), Not(HasSubstr("unknown"))));
  EXPECT_EQ(Run({"prices"}), 0);
  EXPECT_THAT(Out(), HasSubstr("name a recording"));
}

}  // namespace
}  // namespace sawbill::app
