/* The part of NVIDIA's NVML C interface that the fake answers. Layouts follow the structures of nvidia-ml-py. */
#ifndef FAKE_NVML_H
#define FAKE_NVML_H

#include <stdint.h>

typedef int nvmlReturn_t;
typedef struct fake_device *nvmlDevice_t;

enum {
    SUCCESS = 0,
    UNINITIALIZED = 1,
    INVALID_ARGUMENT = 2,
    NOT_SUPPORTED = 3,
    NOT_FOUND = 6,
    INSUFFICIENT_SIZE = 7,
    GPU_IS_LOST = 15,
};

enum { VALUE_UINT = 1, VALUE_ULONGLONG = 3 };

typedef union {
    double d;
    unsigned int ui;
    unsigned long ul;
    unsigned long long ull;
    long long sll;
} nvmlValue_t;

typedef struct { unsigned int gpu, memory; } nvmlUtilization_t;
typedef struct { unsigned long long total, free, used; } nvmlMemory_t;
typedef struct { unsigned int version; unsigned long long total, reserved, free, used; } nvmlMemory_v2_t;
typedef struct {
    char bus_id_legacy[16];
    unsigned int domain, bus, device, pci_device_id, pci_subsystem_id;
    char bus_id[32];
} nvmlPciInfo_t;
typedef struct {
    unsigned int pid;
    unsigned long long used_bytes;
    unsigned int gpu_instance, compute_instance;
} nvmlProcessInfo_t;
typedef struct {
    uint32_t field, scope;
    int64_t timestamp_us, latency_us;
    int32_t value_type;
    nvmlReturn_t result;
    nvmlValue_t value;
} nvmlFieldValue_t;

#endif
