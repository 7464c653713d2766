// SPDX-License-Identifier: Apache-2.0
// Holds gpu/nvml_abi.h against NVIDIA's own nvml.h (CUDA 11.8). Compiled by scripts/nvml_peers only, which also makes
// known_functions.inc: KNOWN(name) for each function of ours that this header declares.
#define NVML_NO_UNVERSIONED_FUNC_DEFS
#include <nvml.h>

#include <array>
#include <cstdio>
#include <string_view>
#include <type_traits>

#include "gpu/nvml_abi.h"

namespace ours = sawbill::nvml;

#define SIZE(mine, theirs) static_assert(sizeof(ours::mine) == sizeof(theirs) && alignof(ours::mine) == alignof(theirs))
#define PLACE(mine, theirs, field) static_assert(offsetof(ours::mine, field) == offsetof(theirs, field))
#define VALUE(mine, theirs) static_assert(static_cast<long>(ours::mine) == static_cast<long>(theirs))

SIZE(PciInfo, nvmlPciInfo_t);
PLACE(PciInfo, nvmlPciInfo_t, busId);
PLACE(PciInfo, nvmlPciInfo_t, pciDeviceId);
SIZE(Utilization, nvmlUtilization_t);
SIZE(Memory, nvmlMemory_t);
PLACE(Memory, nvmlMemory_t, used);
SIZE(MemoryV2, nvmlMemory_v2_t);
PLACE(MemoryV2, nvmlMemory_v2_t, reserved);
PLACE(MemoryV2, nvmlMemory_v2_t, used);
SIZE(Bar1Memory, nvmlBAR1Memory_t);
SIZE(ProcessInfoV1, nvmlProcessInfo_v1_t);
SIZE(ProcessInfo, nvmlProcessInfo_t);
PLACE(ProcessInfo, nvmlProcessInfo_t, gpuInstanceId);
PLACE(ProcessInfo, nvmlProcessInfo_t, computeInstanceId);
SIZE(ProcessUtilizationSample, nvmlProcessUtilizationSample_t);
PLACE(ProcessUtilizationSample, nvmlProcessUtilizationSample_t, timeStamp);
PLACE(ProcessUtilizationSample, nvmlProcessUtilizationSample_t, decUtil);
SIZE(Value, nvmlValue_t);
SIZE(Sample, nvmlSample_t);
SIZE(FieldValue, nvmlFieldValue_t);
PLACE(FieldValue, nvmlFieldValue_t, scopeId);
PLACE(FieldValue, nvmlFieldValue_t, valueType);
PLACE(FieldValue, nvmlFieldValue_t, nvmlReturn);
PLACE(FieldValue, nvmlFieldValue_t, value);
SIZE(ViolationTime, nvmlViolationTime_t);
SIZE(EventData, nvmlEventData_t);
PLACE(EventData, nvmlEventData_t, eventData);
PLACE(EventData, nvmlEventData_t, gpuInstanceId);
SIZE(EccErrorCounts, nvmlEccErrorCounts_t);
SIZE(DeviceAttributes, nvmlDeviceAttributes_t);
PLACE(DeviceAttributes, nvmlDeviceAttributes_t, memorySizeMB);
SIZE(GpuInstanceInfo, nvmlGpuInstanceInfo_t);
SIZE(ComputeInstanceInfo, nvmlComputeInstanceInfo_t);
SIZE(GpuInstanceProfileInfoV2, nvmlGpuInstanceProfileInfo_v2_t);
PLACE(GpuInstanceProfileInfoV2, nvmlGpuInstanceProfileInfo_v2_t, memorySizeMB);
PLACE(GpuInstanceProfileInfoV2, nvmlGpuInstanceProfileInfo_v2_t, name);
SIZE(GpmMetric, nvmlGpmMetric_t);
PLACE(GpmMetric, nvmlGpmMetric_t, value);
PLACE(GpmMetricsGet, nvmlGpmMetricsGet_t, sample2);
PLACE(GpmMetricsGet, nvmlGpmMetricsGet_t, metrics);  // its length differs from header to header
SIZE(GpmSupport, nvmlGpmSupport_t);
SIZE(Device, nvmlDevice_t);
SIZE(EventSet, nvmlEventSet_t);
SIZE(GpmSample, nvmlGpmSample_t);
SIZE(Return, nvmlReturn_t);

static_assert(ours::kMemoryV2Version == nvmlMemory_v2);
static_assert(ours::kGpuInstanceProfileInfoV2Version == nvmlGpuInstanceProfileInfo_v2);
static_assert(ours::kGpmVersion == NVML_GPM_METRICS_GET_VERSION && ours::kGpmVersion == NVML_GPM_SUPPORT_VERSION);
VALUE(kUninitialized, NVML_ERROR_UNINITIALIZED);
VALUE(kInvalidArgument, NVML_ERROR_INVALID_ARGUMENT);
VALUE(kNotSupported, NVML_ERROR_NOT_SUPPORTED);
VALUE(kNoPermission, NVML_ERROR_NO_PERMISSION);
VALUE(kNotFound, NVML_ERROR_NOT_FOUND);
VALUE(kInsufficientSize, NVML_ERROR_INSUFFICIENT_SIZE);
VALUE(kDriverNotLoaded, NVML_ERROR_DRIVER_NOT_LOADED);
VALUE(kTimeout, NVML_ERROR_TIMEOUT);
VALUE(kLibraryNotFound, NVML_ERROR_LIBRARY_NOT_FOUND);
VALUE(kFunctionNotFound, NVML_ERROR_FUNCTION_NOT_FOUND);
VALUE(kGpuIsLost, NVML_ERROR_GPU_IS_LOST);
VALUE(kResetRequired, NVML_ERROR_RESET_REQUIRED);
VALUE(kLibRmVersionMismatch, NVML_ERROR_LIB_RM_VERSION_MISMATCH);
VALUE(kNoData, NVML_ERROR_NO_DATA);
VALUE(kArgumentVersionMismatch, NVML_ERROR_ARGUMENT_VERSION_MISMATCH);
VALUE(kUnknown, NVML_ERROR_UNKNOWN);
VALUE(kClockSm, NVML_CLOCK_SM);
VALUE(kClockMem, NVML_CLOCK_MEM);
VALUE(kClockVideo, NVML_CLOCK_VIDEO);
VALUE(kClockCustomerBoostMax, NVML_CLOCK_ID_CUSTOMER_BOOST_MAX);
VALUE(kThresholdGpuMax, NVML_TEMPERATURE_THRESHOLD_GPU_MAX);
VALUE(kArchHopper, NVML_DEVICE_ARCH_HOPPER);
VALUE(kArchAda, NVML_DEVICE_ARCH_ADA);
VALUE(kBrandNvidia, NVML_BRAND_NVIDIA);
VALUE(kBrandGeForce, NVML_BRAND_GEFORCE);
VALUE(kPstateUnknown, NVML_PSTATE_UNKNOWN);
VALUE(kPolicyBaseClocks, NVML_PERF_POLICY_TOTAL_BASE_CLOCKS);
VALUE(kPcieRx, NVML_PCIE_UTIL_RX_BYTES);
VALUE(kSamplesPower, NVML_TOTAL_POWER_SAMPLES);
VALUE(kSamplesGpuUtil, NVML_GPU_UTILIZATION_SAMPLES);
VALUE(kSamplesMemoryClock, NVML_MEMORY_CLK_SAMPLES);
VALUE(kValueU64, NVML_VALUE_TYPE_UNSIGNED_LONG_LONG);
VALUE(kErrorUncorrected, NVML_MEMORY_ERROR_TYPE_UNCORRECTED);
VALUE(kEccAggregate, NVML_AGGREGATE_ECC);
VALUE(kLocationSram, NVML_MEMORY_LOCATION_SRAM);
VALUE(kTopologyNode, NVML_TOPOLOGY_NODE);
VALUE(kRemoteSwitch, NVML_NVLINK_DEVICE_TYPE_SWITCH);
VALUE(kReasonGpuIdle, nvmlClocksThrottleReasonGpuIdle);
VALUE(kReasonAppClocks, nvmlClocksThrottleReasonApplicationsClocksSetting);
VALUE(kReasonSwPowerCap, nvmlClocksThrottleReasonSwPowerCap);
VALUE(kReasonHwSlowdown, nvmlClocksThrottleReasonHwSlowdown);
VALUE(kReasonSyncBoost, nvmlClocksThrottleReasonSyncBoost);
VALUE(kReasonSwThermal, nvmlClocksThrottleReasonSwThermalSlowdown);
VALUE(kReasonHwThermal, nvmlClocksThrottleReasonHwThermalSlowdown);
VALUE(kReasonHwPowerBrake, nvmlClocksThrottleReasonHwPowerBrakeSlowdown);
VALUE(kReasonDisplayClocks, nvmlClocksThrottleReasonDisplayClockSetting);
VALUE(kEventXid, nvmlEventTypeXidCriticalError);
VALUE(kEventDoubleBitEcc, nvmlEventTypeDoubleBitEccError);
VALUE(kEventMigConfig, nvmlEventMigConfigChange);
VALUE(kFieldMemoryTemp, NVML_FI_DEV_MEMORY_TEMP);
VALUE(kFieldEnergyMj, NVML_FI_DEV_TOTAL_ENERGY_CONSUMPTION);
VALUE(kFieldPolicyPowerNs, NVML_FI_DEV_PERF_POLICY_POWER);
VALUE(kFieldPolicyBaseClocksNs, NVML_FI_DEV_PERF_POLICY_TOTAL_BASE_CLOCKS);
VALUE(kFieldNvLinkCount, NVML_FI_DEV_NVLINK_LINK_COUNT);
VALUE(kFieldNvLinkDataTxKib, NVML_FI_DEV_NVLINK_THROUGHPUT_DATA_TX);
VALUE(kFieldNvLinkRawRxKib, NVML_FI_DEV_NVLINK_THROUGHPUT_RAW_RX);
VALUE(kFieldRemappedCorrectable, NVML_FI_DEV_REMAPPED_COR);
VALUE(kFieldRemappedFailure, NVML_FI_DEV_REMAPPED_FAILURE);
VALUE(kGpmGraphicsUtil, NVML_GPM_METRIC_GRAPHICS_UTIL);
VALUE(kGpmSmOccupancy, NVML_GPM_METRIC_SM_OCCUPANCY);
VALUE(kGpmAnyTensorUtil, NVML_GPM_METRIC_ANY_TENSOR_UTIL);
VALUE(kGpmDramBwUtil, NVML_GPM_METRIC_DRAM_BW_UTIL);
VALUE(kGpmFp16Util, NVML_GPM_METRIC_FP16_UTIL);
VALUE(kGpmPcieRxMibPerS, NVML_GPM_METRIC_PCIE_RX_PER_SEC);
VALUE(kGpmNvLinkTotalRxMibPerS, NVML_GPM_METRIC_NVLINK_TOTAL_RX_PER_SEC);

/// How an argument is passed: p pointer (or a struct of one), 4 or 8 an integer of so many bytes.
template <typename T>
consteval char Passed() {
  if (std::is_pointer_v<T> || (std::is_class_v<T> && sizeof(T) == 8)) return 'p';
  return sizeof(T) == 8 ? '8' : sizeof(T) == 4 ? '4' : '?';
}
template <typename Function>
struct Signature;
template <typename R, typename... A>
struct Signature<R(A...)> {
  static constexpr std::array<char, sizeof...(A) + 1> kText = {Passed<R>(), Passed<A>()...};
};

int main() {
  int functions = 0;
#define KNOWN(name)                                                                                              \
  static_assert(Signature<ours::fn::name>::kText == Signature<std::remove_reference_t<decltype(::name)>>::kText, \
                #name);                                                                                          \
  ++functions;
#include "known_functions.inc"
  std::printf("%d functions\n", functions);
  return functions > 100 ? 0 : 1;
}
