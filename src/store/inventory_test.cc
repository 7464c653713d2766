// SPDX-License-Identifier: Apache-2.0
#include "store/inventory.h"

#include <gtest/gtest.h>

#include "store/test_util.h"

namespace sawbill::store {
namespace {

Inventory Parse(std::string_view text, model::DataQuality* quality) {
  return Inventory::Parse(text, "n1", TimeZone::Utc(), "inventory.csv", quality);
}

TEST(Inventory, TheRowValidAtATimeIsFound) {
  model::DataQuality q;
  const Inventory inv = Parse(
      "gpu,uuid,name,memory_total_mb,from\n"
      "0,GPU-a,A100,81920,\n"
      "0,GPU-b,A100,81920,1767268800.000\n",
      &q);
  EXPECT_EQ(inv.At("0", kNoon - 1)->uuid, "GPU-a");
  EXPECT_EQ(inv.At("0", kNoon)->uuid, "GPU-b");
  EXPECT_EQ(inv.At("1", kNoon), nullptr);
  EXPECT_EQ(inv.At("0", 5)->memory_total_mb, 81920.0);
  EXPECT_EQ(inv.node(), "n1");
  TimeMs from = 0, to = 0;
  inv.At("0", 5, &from, &to);
  EXPECT_EQ(to, kNoon);
  inv.At("0", kNoon + 5, &from, &to);
  EXPECT_EQ(from, kNoon);
  EXPECT_TRUE(q.empty());
}

TEST(Inventory, BeforeItsFirstRowACardIsWhatItWasFirst) {
  model::DataQuality q;
  const Inventory inv = Parse("gpu,uuid,from\n0,GPU-a,1767268800.000\n", &q);
  EXPECT_EQ(inv.At("0", 5)->uuid, "GPU-a");
}

TEST(Inventory, ColumnsGoByNameAndOddCellsAreCounted) {
  model::DataQuality q;
  const Inventory inv = Parse(
      "uuid,gpu,colour,share,from\r\n"
      "GPU-a,0.1.0,red,0.5,2026-01-01T12:00:00Z\r\n"
      "GPU-b,1,blue,half,yesterday\r\n"
      "GPU-c\r\n",
      &q);
  EXPECT_EQ(inv.At("0.1.0", kNoon)->share, 0.5);
  EXPECT_EQ(inv.At("0.1.0", kNoon)->from, kNoon);
  EXPECT_EQ(inv.At("1", kNoon)->share, std::nullopt);
  EXPECT_EQ(q.count(model::Odd::kUnknownColumn), 1);
  EXPECT_EQ(q.count(model::Odd::kBadCell), 2);
  EXPECT_EQ(q.count(model::Odd::kBadRow), 1);
  EXPECT_EQ(q.detail(model::Odd::kBadRow), "inventory.csv:4");
}

TEST(Inventory, UpdateAddsARowOnlyForAChange) {
  sys::MemFileSystem fs;
  model::CardInfo a;
  a.gpu = "0";
  a.uuid = "GPU-a";
  a.name = "NVIDIA A100";
  a.driver = "550.54";
  a.memory_total_mb = 81920;
  ASSERT_TRUE(fs.MakeDirs("d").ok());
  ASSERT_TRUE(UpdateInventory(&fs, "d", {a}, kNoon, TimeZone::Utc()).ok());
  const std::string first = fs.Get("d/inventory.csv");
  EXPECT_EQ(first, std::string(kInventoryHeader) + "\n0,GPU-a,NVIDIA A100,81920,,550.54,,,,,,,\n");
  ASSERT_TRUE(UpdateInventory(&fs, "d", {a}, kNoon + 1000, TimeZone::Utc()).ok());
  EXPECT_EQ(fs.Get("d/inventory.csv"), first);
  a.driver = "570.86";
  ASSERT_TRUE(UpdateInventory(&fs, "d", {a}, kNoon + 1000, TimeZone::Utc()).ok());
  EXPECT_EQ(fs.Get("d/inventory.csv"), first + "0,GPU-a,NVIDIA A100,81920,,570.86,1767268801.000,,,,,,\n");
}

TEST(Inventory, WhatCannotBeReadThisTimeKeepsItsLastValue) {  // opened anew while a call into the driver fails
  sys::MemFileSystem fs;
  fs.Put("d/inventory.csv", std::string(kInventoryHeader) + "\n0,GPU-a,NVIDIA A100,81920,400,550.54,,n1,,,,1410,\n");
  const std::string before = fs.Get("d/inventory.csv");
  model::CardInfo a;
  a.gpu = "0";
  a.uuid = "GPU-a";
  a.node = "n1";
  ASSERT_TRUE(UpdateInventory(&fs, "d", {a}, kNoon, TimeZone::Utc()).ok());
  EXPECT_EQ(fs.Get("d/inventory.csv"), before);
  a.gpu = "1";  // back under another index: a row, with all that is known of the card
  ASSERT_TRUE(UpdateInventory(&fs, "d", {a}, kNoon, TimeZone::Utc()).ok());
  EXPECT_EQ(fs.Get("d/inventory.csv"), before + "1,GPU-a,NVIDIA A100,81920,400,550.54,,n1,,,,1410,\n");
  a.uuid = "GPU-b";  // another card in its place knows nothing of the one before
  ASSERT_TRUE(UpdateInventory(&fs, "d", {a}, kNoon, TimeZone::Utc()).ok());
  EXPECT_EQ(fs.Get("d/inventory.csv").substr(before.size()),
            "1,GPU-a,NVIDIA A100,81920,400,550.54,,n1,,,,1410,\n1,GPU-b,,,,,1767268800.000,n1,,,,,\n");
}

TEST(Inventory, UpdateKeepsTheOwnersTagAndAnOlderHeader) {
  sys::MemFileSystem fs;
  fs.Put("d/inventory.csv", "gpu,uuid,label\n0,GPU-a,rack 7");  // written by hand, no last line end
  model::CardInfo a;
  a.gpu = "1";  // the driver numbered it anew
  a.uuid = "GPU-a";
  ASSERT_TRUE(UpdateInventory(&fs, "d", {a}, kNoon, TimeZone::Utc()).ok());
  model::DataQuality q;
  const Inventory inv = Parse(fs.Get("d/inventory.csv"), &q);
  EXPECT_EQ(inv.At("0", kNoon)->label, "rack 7");
  EXPECT_EQ(inv.At("1", kNoon)->label, "rack 7");
  EXPECT_TRUE(q.empty());
}

}  // namespace
}  // namespace sawbill::store
