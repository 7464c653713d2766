// SPDX-License-Identifier: Apache-2.0
// NVML's binary interface as we need it: return codes, enumerations, structures and function types. Written from the
// facts of the interface (x86-64, drivers 520 to 610), not from NVIDIA's header, so that nothing of NVIDIA's is needed
// to build. It is used by the collector, which loads the real library, and by the scripted library of the simulator;
// `make check-nvml-peers` compiles it against NVIDIA's own header.
//
// Names are NVML's without the prefix; functions keep theirs, with the version suffix spelled out, because dlsym knows
// no header macros: "nvmlDeviceGetCount" is the old one. The functions are listed in gpu/nvml_functions.inc.
#pragma once

#include <cstddef>
#include <cstdint>

namespace sawbill::nvml {

using u32 = unsigned int;
using u64 = unsigned long long;
using i64 = long long;

/// Any other integer may come as well: treat it as kUnknown, never index by it.
enum Return : int {
  kSuccess = 0,
  kUninitialized = 1,
  kInvalidArgument = 2,
  kNotSupported = 3,
  kNoPermission = 4,
  kAlreadyInitialized = 5,
  kNotFound = 6,
  kInsufficientSize = 7,
  kInsufficientPower = 8,
  kDriverNotLoaded = 9,
  kTimeout = 10,
  kIrqIssue = 11,
  kLibraryNotFound = 12,
  kFunctionNotFound = 13,
  kCorruptedInforom = 14,
  kGpuIsLost = 15,
  kResetRequired = 16,
  kOperatingSystem = 17,
  kLibRmVersionMismatch = 18,
  kInUse = 19,
  kMemory = 20,
  kNoData = 21,
  kVgpuEccNotSupported = 22,
  kInsufficientResources = 23,
  kFreqNotSupported = 24,
  kArgumentVersionMismatch = 25,
  kDeprecated = 26,
  kNotReady = 27,
  kGpuNotFound = 28,
  kInvalidState = 29,
  kResetTypeNotSupported = 30,
  kUnknown = 999
};

// Handles: one pointer each, passed by value. Never looked into.
using Device = struct DeviceBody*;
using GpuInstance = struct GpuInstanceBody*;
using ComputeInstance = struct ComputeInstanceBody*;
using EventSet = struct EventSetBody*;
using GpmSample = struct GpmSampleBody*;

// Enumerations are ints in the interface; parameters of these kinds are declared int, their values stand here.
enum EnableState : int { kDisabled = 0, kEnabled = 1 };
enum ClockType : int { kClockGraphics = 0, kClockSm = 1, kClockMem = 2, kClockVideo = 3 };
enum ClockId : int { kClockCurrent = 0, kClockAppTarget = 1, kClockAppDefault = 2, kClockCustomerBoostMax = 3 };
enum TemperatureSensor : int { kTemperatureGpu = 0 };
enum TemperatureThreshold : int {
  kThresholdShutdown = 0,
  kThresholdSlowdown = 1,
  kThresholdMemMax = 2,
  kThresholdGpuMax = 3
};
enum Architecture : int {
  kArchKepler = 2,
  kArchMaxwell = 3,
  kArchPascal = 4,
  kArchVolta = 5,
  kArchTuring = 6,
  kArchAmpere = 7,
  kArchAda = 8,
  kArchHopper = 9,
  kArchBlackwell = 10,
  kArchRubin = 13
};
enum Brand : int {
  kBrandUnknown = 0,
  kBrandTesla = 2,
  kBrandGeForce = 5,
  kBrandNvidiaRtx = 13,
  kBrandNvidia = 14,
  kBrandGeForceRtx = 15
};
enum Pstate : int { kPstate0 = 0, kPstate8 = 8, kPstateUnknown = 32 };
enum PerfPolicy : int {
  kPolicyPower = 0,
  kPolicyThermal = 1,
  kPolicySyncBoost = 2,
  kPolicyBoardLimit = 3,
  kPolicyLowUtilization = 4,
  kPolicyReliability = 5,
  kPolicyAppClocks = 10,
  kPolicyBaseClocks = 11
};
enum PcieCounter : int { kPcieTx = 0, kPcieRx = 1 };
enum SamplingType : int {
  kSamplesPower = 0,
  kSamplesGpuUtil = 1,
  kSamplesMemoryUtil = 2,
  kSamplesEncoder = 3,
  kSamplesDecoder = 4,
  kSamplesProcessorClock = 5,
  kSamplesMemoryClock = 6
};
enum ValueType : int {
  kValueDouble = 0,
  kValueU32 = 1,
  kValueUlong = 2,
  kValueU64 = 3,
  kValueI64 = 4,
  kValueI32 = 5,
  kValueU16 = 6
};
enum MemoryErrorType : int { kErrorCorrected = 0, kErrorUncorrected = 1 };
enum EccCounter : int { kEccVolatile = 0, kEccAggregate = 1 };
enum MemoryLocation : int {
  kLocationL1 = 0,
  kLocationL2 = 1,
  kLocationDram = 2,
  kLocationRegisterFile = 3,
  kLocationSram = 7
};
enum ComputeMode : int {
  kComputeDefault = 0,
  kComputeExclusiveThread = 1,
  kComputeProhibited = 2,
  kComputeExclusiveProcess = 3
};
enum TopologyLevel : int {
  kTopologyInternal = 0,
  kTopologySingle = 10,
  kTopologyMultiple = 20,
  kTopologyHostBridge = 30,
  kTopologyNode = 40,
  kTopologySystem = 50
};
enum NvLinkRemote : int { kRemoteGpu = 0, kRemoteIbmNpu = 1, kRemoteSwitch = 2, kRemoteUnknown = 255 };
enum ProcessListMode : u32 { kProcessesCompute = 0, kProcessesGraphics = 1, kProcessesMps = 2, kProcessesAll = 3 };

/// Why clocks are below what was asked for. kReasonGpuIdle, kReasonAppClocks and kReasonDisplayClocks are no trouble.
enum ClocksEventReason : u64 {
  kReasonNone = 0,
  kReasonGpuIdle = 0x1,
  kReasonAppClocks = 0x2,
  kReasonSwPowerCap = 0x4,
  kReasonHwSlowdown = 0x8,
  kReasonSyncBoost = 0x10,
  kReasonSwThermal = 0x20,
  kReasonHwThermal = 0x40,
  kReasonHwPowerBrake = 0x80,
  kReasonDisplayClocks = 0x100
};

enum EventType : u64 {
  kEventSingleBitEcc = 0x1,
  kEventDoubleBitEcc = 0x2,
  kEventPstate = 0x4,
  kEventXid = 0x8,
  kEventClock = 0x10,
  kEventPowerSource = 0x80,
  kEventMigConfig = 0x100
};

/// Ids of nvmlDeviceGetFieldValues. 251-273 are left out: they were renumbered between driver branches.
enum FieldId : u32 {
  kFieldEccCurrent = 1,
  kFieldEccPending = 2,
  kFieldEccSbeVolatile = 3,
  kFieldEccDbeVolatile = 4,
  kFieldEccSbeAggregate = 5,
  kFieldEccDbeAggregate = 6,
  kFieldPolicyPowerNs = 74,  // also: software power cap
  kFieldPolicyThermalNs = 75,
  kFieldPolicySyncBoostNs = 76,
  kFieldPolicyBoardLimitNs = 77,
  kFieldPolicyLowUtilizationNs = 78,
  kFieldPolicyReliabilityNs = 79,
  kFieldPolicyBaseClocksNs = 81,
  kFieldMemoryTemp = 82,
  kFieldEnergyMj = 83,
  kFieldNvLinkSpeedMbps = 90,
  kFieldNvLinkCount = 91,
  kFieldPcieReplay = 94,
  kFieldPcieReplayRollover = 95,
  kFieldNvLinkDataTxKib = 138,  // scope: link, or kAllLinks
  kFieldNvLinkDataRxKib = 139,
  kFieldNvLinkRawTxKib = 140,
  kFieldNvLinkRawRxKib = 141,
  kFieldRemappedCorrectable = 142,
  kFieldRemappedUncorrectable = 143,
  kFieldRemappedPending = 144,
  kFieldRemappedFailure = 145,
  kFieldNvLinkScopedSpeedMbps = 164,
  kFieldNvLinkScopedState = 165,
  kFieldPowerAverageMw = 185,  // scope: kPowerGpu, kPowerModule, kPowerMemory
  kFieldPowerInstantMw = 186,
  kFieldPowerMinLimitMw = 187,
  kFieldPowerMaxLimitMw = 188,
  kFieldPowerDefaultLimitMw = 189,
  kFieldPowerCurrentLimitMw = 190,
  kFieldEnergyMj2 = 191,
  kFieldPowerRequestedLimitMw = 192,
  kFieldTlimitShutdown = 193,
  kFieldTlimitSlowdown = 194,
  kFieldTlimitMemMax = 195,
  kFieldTlimitGpuMax = 196,
  kFieldPcieTxBytes = 197,
  kFieldPcieRxBytes = 198,
  kFieldResetStatus = 226,
  kFieldDrainAndResetStatus = 227
};
inline constexpr u32 kAllLinks = 0xFFFFFFFFu;
inline constexpr u32 kPowerGpu = 0, kPowerModule = 1, kPowerMemory = 2;

/// Ids of nvmlGpmMetricsGet: percent, MiB/s for rates.
enum GpmMetricId : u32 {
  kGpmGraphicsUtil = 1,
  kGpmSmUtil = 2,
  kGpmSmOccupancy = 3,
  kGpmIntegerUtil = 4,
  kGpmAnyTensorUtil = 5,
  kGpmDfmaTensorUtil = 6,
  kGpmHmmaTensorUtil = 7,
  kGpmImmaTensorUtil = 9,
  kGpmDramBwUtil = 10,
  kGpmFp64Util = 11,
  kGpmFp32Util = 12,
  kGpmFp16Util = 13,
  kGpmPcieTxMibPerS = 20,
  kGpmPcieRxMibPerS = 21,
  kGpmNvLinkTotalRxMibPerS = 60,
  kGpmNvLinkTotalTxMibPerS = 61
};

inline constexpr u32 kNoInstance = 0xFFFFFFFFu;  // gpuInstanceId, computeInstanceId: MIG is off
inline constexpr u64 kMemoryUnknown = ~0ull;     // usedGpuMemory
inline constexpr u32 kInitNoGpus = 1, kInitNoAttach = 2;
inline constexpr u32 kNameSize = 96, kUuidSize = 96, kVersionSize = 80, kSerialSize = 30;

struct PciInfo {
  char busIdLegacy[16];  // "0000:3B:00.0"
  u32 domain;
  u32 bus;
  u32 device;
  u32 pciDeviceId;  // device in the high 16 bits, vendor in the low
  u32 pciSubSystemId;
  char busId[32];  // "00000000:3B:00.0"
};
struct Utilization {
  u32 gpu;
  u32 memory;
};
struct Memory {  // bytes; `used` has what the driver reserves as well
  u64 total;
  u64 free;
  u64 used;
};
struct MemoryV2 {  // total = reserved + free + used
  u32 version;
  u64 total;
  u64 reserved;
  u64 free;
  u64 used;
};
struct Bar1Memory {
  u64 bar1Total;
  u64 bar1Free;
  u64 bar1Used;
};
struct ProcessInfoV1 {
  u32 pid;
  u64 usedGpuMemory;
};
struct ProcessInfo {  // the _v2 and the _v3 calls; some early 535 drivers wrote entries of 32 bytes
  u32 pid;
  u64 usedGpuMemory;
  u32 gpuInstanceId;
  u32 computeInstanceId;
};
struct ProcessDetail {
  u32 pid;
  u64 usedGpuMemory;
  u32 gpuInstanceId;
  u32 computeInstanceId;
  u64 usedGpuCcProtectedMemory;
};
struct ProcessDetailList {
  u32 version;
  u32 mode;
  u32 numProcArrayEntries;
  ProcessDetail* procArray;
};
struct ProcessUtilizationSample {
  u32 pid;
  u64 timeStamp;
  u32 smUtil;
  u32 memUtil;
  u32 encUtil;
  u32 decUtil;
};
struct ProcessUtilizationInfo {
  u64 timeStamp;
  u32 pid;
  u32 smUtil;
  u32 memUtil;
  u32 encUtil;
  u32 decUtil;
  u32 jpgUtil;
  u32 ofaUtil;
};
struct ProcessesUtilizationInfo {
  u32 version;
  u32 processSamplesCount;
  u64 lastSeenTimeStamp;
  ProcessUtilizationInfo* procUtilArray;
};
union Value {
  double dVal;
  int siVal;
  u32 uiVal;
  unsigned long ulVal;
  u64 ullVal;
  i64 sllVal;
  unsigned short usVal;
};
struct Sample {
  u64 timeStamp;  // microseconds
  Value sampleValue;
};
struct FieldValue {
  u32 fieldId;
  u32 scopeId;
  i64 timestamp;
  i64 latencyUsec;
  ValueType valueType;
  Return nvmlReturn;
  Value value;
};
struct ViolationTime {
  u64 referenceTime;  // microseconds
  u64 violationTime;  // nanoseconds
};
struct EventData {
  Device device;
  u64 eventType;
  u64 eventData;  // the number of an Xid
  u32 gpuInstanceId;
  u32 computeInstanceId;
};
struct EccErrorCounts {
  u64 l1Cache;
  u64 l2Cache;
  u64 deviceMemory;
  u64 registerFile;
};
struct DeviceAttributes {
  u32 multiprocessorCount;
  u32 sharedCopyEngineCount;
  u32 sharedDecoderCount;
  u32 sharedEncoderCount;
  u32 sharedJpegCount;
  u32 sharedOfaCount;
  u32 gpuInstanceSliceCount;
  u32 computeInstanceSliceCount;
  u64 memorySizeMB;
};
struct Placement {
  u32 start;
  u32 size;
};
struct GpuInstanceInfo {
  Device device;
  u32 id;
  u32 profileId;
  Placement placement;
};
struct ComputeInstanceInfo {
  Device device;
  GpuInstance gpuInstance;
  u32 id;
  u32 profileId;
  Placement placement;
};
struct GpuInstanceProfileInfoV2 {
  u32 version;
  u32 id;
  u32 isP2pSupported;
  u32 sliceCount;
  u32 instanceCount;
  u32 multiprocessorCount;
  u32 copyEngineCount;
  u32 decoderCount;
  u32 encoderCount;
  u32 jpegCount;
  u32 ofaCount;
  u64 memorySizeMB;
  char name[96];
};
struct GpmMetricInfo {
  char* shortName;
  char* longName;
  char* unit;
};
struct GpmMetric {
  u32 metricId;
  Return nvmlReturn;
  double value;
  GpmMetricInfo metricInfo;
};
inline constexpr int kGpmMetricMax = 333;  // 98 and 210 in older headers: the library touches numMetrics entries only
struct GpmMetricsGet {
  u32 version;
  u32 numMetrics;
  GpmSample sample1;
  GpmSample sample2;
  GpmMetric metrics[kGpmMetricMax];
};
struct GpmSupport {
  u32 version;
  u32 isSupportedDevice;
};

inline constexpr u32 kMemoryV2Version = 0x02000028u;
inline constexpr u32 kProcessDetailListVersion = 0x01000018u;
inline constexpr u32 kProcessesUtilizationVersion = 0x01000018u;
inline constexpr u32 kGpuInstanceProfileInfoV2Version = 0x02000098u;
inline constexpr u32 kGpmVersion = 1;  // not coded with the size, as the others are

static_assert(sizeof(void*) == 8, "the interface is declared for x86-64 and arm64");
static_assert(sizeof(Return) == 4 && sizeof(ValueType) == 4);
static_assert(sizeof(PciInfo) == 68 && offsetof(PciInfo, busId) == 36);
static_assert(sizeof(Utilization) == 8 && sizeof(Memory) == 24 && sizeof(Bar1Memory) == 24);
static_assert(sizeof(MemoryV2) == 40 && offsetof(MemoryV2, reserved) == 16 && offsetof(MemoryV2, used) == 32);
static_assert(sizeof(ProcessInfoV1) == 16 && sizeof(ProcessInfo) == 24 && offsetof(ProcessInfo, gpuInstanceId) == 16);
static_assert(sizeof(ProcessDetail) == 32 && sizeof(ProcessDetailList) == 24);
static_assert(sizeof(ProcessUtilizationSample) == 32 && offsetof(ProcessUtilizationSample, smUtil) == 16);
static_assert(sizeof(ProcessUtilizationInfo) == 40 && sizeof(ProcessesUtilizationInfo) == 24);
static_assert(sizeof(Value) == 8 && sizeof(Sample) == 16);
static_assert(sizeof(FieldValue) == 40 && offsetof(FieldValue, valueType) == 24 && offsetof(FieldValue, value) == 32);
static_assert(sizeof(ViolationTime) == 16 && sizeof(EventData) == 32 && offsetof(EventData, gpuInstanceId) == 24);
static_assert(sizeof(EccErrorCounts) == 32 && sizeof(DeviceAttributes) == 40);
static_assert(sizeof(GpuInstanceInfo) == 24 && sizeof(ComputeInstanceInfo) == 32);
static_assert(sizeof(GpuInstanceProfileInfoV2) == 152 && offsetof(GpuInstanceProfileInfoV2, name) == 56);
static_assert(sizeof(GpmMetric) == 40 && offsetof(GpmMetricsGet, metrics) == 24 && sizeof(GpmMetricsGet) == 13344);
static_assert(sizeof(GpmSupport) == 8);

/// The functions by name, as types: `fn::nvmlDeviceGetCount_v2* count = ...Find("nvmlDeviceGetCount_v2")`.
namespace fn {
#define NVML_FUNCTION(name, parameters) using name = Return parameters;  // NOLINT(bugprone-macro-parentheses)
#include "gpu/nvml_functions.inc"
#undef NVML_FUNCTION
using nvmlErrorString = const char*(Return code);  // the only one that returns no code
}  // namespace fn

}  // namespace sawbill::nvml
