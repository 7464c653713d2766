// SPDX-License-Identifier: Apache-2.0
// Means and quantiles weighted by the time that each sample speaks for, robust spread, and small series tools. Pure.
#pragma once

#include <cstddef>
#include <vector>

namespace sawbill::wave {

/// Mean of the values that are present, weighted; NaN if there is none. REQUIRES: equal sizes.
double WeightedMean(const std::vector<float>& v, const std::vector<float>& weight);
/// Quantile q in [0,1] of the values that are present, weighted (the value at which the running weight reaches q).
double WeightedQuantile(const std::vector<float>& v, const std::vector<float>& weight, double q);
/// Unweighted; NaN when empty. Both reorder their argument.
double Median(std::vector<double> v);
double Quantile(std::vector<double> v, double q);
/// The same of readings as they are kept. REQUIRES: none is missing.
double QuantileOfReadings(std::vector<float> v, double q);
/// 1.4826 x median absolute deviation: the standard deviation of a normal sample, blind to outliers.
double RobustSigma(const std::vector<double>& v);
/// The same from differences of all pairs (Qn of Rousseeuw and Croux, 1993, with their correction for small samples):
/// 82 % efficient on a normal sample where the MAD is 37 %, which counts when there are ten values. O(n^2); NaN
/// below 2.
double PairwiseSigma(const std::vector<double>& v);

}  // namespace sawbill::wave
