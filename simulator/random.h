// SPDX-License-Identifier: Apache-2.0
// Random numbers that are the same for a seed with every compiler: the standard fixes its engines but not its
// distributions, so a recording made with one standard library would differ from that of another.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "simulator/portable_math.h"

namespace sawbill::simulator {

/// Which parts of every parameter's range may be drawn. What is tuned on kTrain is tried on values that it never saw:
/// the three others are disjoint, and both ends of each range belong to kTest.
enum class Band { kAll, kTrain, kDev, kTest };

/// xoshiro256** by Blackman and Vigna, seeded by splitmix64.
class Rng {
 public:
  explicit Rng(uint64_t seed) {
    for (uint64_t& word : state_) {
      seed += 0x9e3779b97f4a7c15ULL;
      word = Mix(seed);
    }
  }
  /// An independent stream for one purpose: adding a draw in one part of the model leaves all other parts as they were.
  Rng Fork(std::string_view purpose, uint64_t index = 0) const {
    uint64_t h = state_[0] ^ (index * 0xd1342543de82ef95ULL + 1);
    for (char c : purpose) h = Mix(h ^ static_cast<unsigned char>(c));
    return Rng(h);
  }

  uint64_t Next() {
    const uint64_t result = Rotate(state_[1] * 5, 7) * 9;
    const uint64_t t = state_[1] << 17;
    state_[2] ^= state_[0];
    state_[3] ^= state_[1];
    state_[1] ^= state_[2];
    state_[0] ^= state_[3];
    state_[2] ^= t;
    state_[3] = Rotate(state_[3], 45);
    return result;
  }
  /// [0, 1)
  double Uniform() { return static_cast<double>(Next() >> 11) * 0x1.0p-53; }
  double Uniform(double low, double high) { return low + (high - low) * Banded(); }
  /// low..high, both included.
  int Int(int low, int high) { return low + static_cast<int>(Banded() * (high - low + 1)); }
  bool Chance(double p) { return Uniform() < p; }
  double LogUniform(double low, double high) { return low * Exp(Banded() * Log(high / low)); }
  /// From now on parameters (Uniform, LogUniform, Int with bounds) come from these parts of their ranges only.
  void Restrict(Band band) { band_ = band; }
  /// Mean 0, standard deviation 1 (Marsaglia's polar method).
  double Normal() {
    double x = 0, y = 0, r = 0;
    do {
      x = 2 * Uniform() - 1;
      y = 2 * Uniform() - 1;
      r = x * x + y * y;
    } while (r >= 1 || r == 0);
    return x * std::sqrt(-2 * Log(r) / r);
  }
  /// Mean 1 with the coefficient of variation `cv`.
  double LogNormal(double cv) {
    if (cv <= 0) return 1.0;
    const double variance = Log(1 + cv * cv);
    return Exp(std::sqrt(variance) * Normal() - variance / 2);
  }
  double Exponential(double mean) { return -mean * Log(1.0 - Uniform()); }
  /// Heavy tail from `low` on; `shape` 1.2 to 2 for the gaps that people leave.
  double Pareto(double low, double shape) { return low * Pow(1.0 - Uniform(), -1.0 / shape); }

 private:
  static uint64_t Rotate(uint64_t x, int k) { return (x << k) | (x >> (64 - k)); }
  static uint64_t Mix(uint64_t z) {
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
    return z ^ (z >> 31);
  }
  /// [0, 1), but only in the tenths that belong to the band.
  double Banded() {
    constexpr int kTenths[4][10] = {{}, {1, 3, 5, 6, 8}, {2, 7}, {0, 4, 9}};
    constexpr int kCount[4] = {0, 5, 2, 3};
    const double u = Uniform();
    if (band_ == Band::kAll) return u;
    const auto band = static_cast<size_t>(band_);
    const int slot = static_cast<int>(u * kCount[band]);
    return (kTenths[band][slot] + (u * kCount[band] - slot)) / 10;
  }

  uint64_t state_[4];
  Band band_ = Band::kAll;
};

}  // namespace sawbill::simulator
