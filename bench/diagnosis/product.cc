// SPDX-License-Identifier: Apache-2.0
#include "bench/diagnosis/product.h"

#include <nlohmann/json.hpp>

#include "app/environment.h"
#include "base/numbers.h"
#include "sys/mem_fs.h"

namespace sawbill::bench {
namespace {

using Json = nlohmann::json;

double NumberOr(const Json& object, const char* key, double fallback) {
  const auto it = object.find(key);
  return it != object.end() && it->is_number() ? it->get<double>() : fallback;
}

Claim ReadClaim(const Json& f, double cost) {
  Claim c;
  c.id = f.at("id").get<std::string>();
  if (const auto it = f.find("cause"); it != f.end() && it->is_string()) c.cause = it->get<std::string>();
  if (const auto it = f.find("period_s"); it != f.end() && it->is_number()) c.period_s = it->get<double>();
  if (const auto it = f.find("saving"); it != f.end() && it->is_object() && cost > 0) {
    c.saving = {NumberOr(*it, "low", 0) / cost, NumberOr(*it, "expected", 0) / cost, NumberOr(*it, "high", 0) / cost};
  }
  if (const auto it = f.find("gpus"); it != f.end()) {
    for (const Json& g : *it) c.gpus.push_back(g.is_string() ? g.get<std::string>() : g.dump());
  }
  return c;
}

}  // namespace

Answer AskSawbill(const std::vector<simulator::OutFile>& files, double price_per_gpu_hour,
                  const std::vector<std::string>& args) {
  sys::MemFileSystem fs;
  for (const simulator::OutFile& file : files) {
    if (file.name != "truth.json") fs.Put("/trace/" + file.name, file.bytes);
  }
  Answer answer;
  app::MemStream out, err;
  app::Environment env;
  env.fs = &fs;
  env.out = &out;
  env.err = &err;
  env.now = 1'790'000'000'000;
  env.vars = {{"HOME", "/home"}, {"LANG", "C.UTF-8"}, {"SAWBILL_TZ", "UTC"}};
  std::vector<std::string> line = {
      "report", "--data", "/trace", "--format", "json", "--price", FormatShortest(price_per_gpu_hour)};
  line.insert(line.end(), args.begin(), args.end());
  const int status = app::RunMain(line, &env);
  const Json report = Json::parse(out.text(), nullptr, false);
  if (status != 0 || report.is_discarded()) {
    answer.crashed = true;
    answer.error = err.text();
    return answer;
  }
  const Json& bill = report.at("bill");
  answer.cost = NumberOr(bill, "cost", 0);
  for (const Json& row : bill.at("ledger")) {
    answer.ledger_s[row.at("line").get<std::string>()] += NumberOr(row, "gpu_seconds", 0);
    answer.ledger_cost += NumberOr(row, "cost", 0);
  }
  for (const Json& f : report.at("findings")) answer.claims.push_back(ReadClaim(f, answer.cost));
  return answer;
}

}  // namespace sawbill::bench
