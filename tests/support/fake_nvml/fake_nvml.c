#define _GNU_SOURCE /* st_mtim */

/* A stand-in for libnvidia-ml.so.1, loaded by the real nvidia-ml-py.
 *
 * The file named by FAKE_NVML_CONTROL is watched at every call, one order a line:
 *   fail FUNCTION DEVICE CODE      the call returns this nvmlReturn_t (FUNCTION and DEVICE may be *)
 *   field_fail FIELD DEVICE CODE   this field of nvmlDeviceGetFieldValues carries the code
 *   slow FUNCTION MICROSECONDS     the call sleeps first
 *   set KEY DEVICE VALUE           a reading or fact, e.g. `set used_bytes 1 1048576`, `set uuid 1 MIG-…`
 *   set devices * N                how many devices there are (default 2)
 * A missing symbol is made by building with -Dname=other_name.
 */
#include "fake_nvml.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define MAX_DEVICES 8
#define MAX_ORDERS 64
#define MIB (1024ULL * 1024ULL)

struct fake_device { int index; };

static struct fake_device devices[MAX_DEVICES] = {{0}, {1}, {2}, {3}, {4}, {5}, {6}, {7}};
static int init_count = 0;

static int matches(const char *pattern, const char *text) {
    return strcmp(pattern, "*") == 0 || strcmp(pattern, text) == 0;
}

typedef struct { char verb[32], subject[80], where[80], value[120]; int parts; } order_t;

static order_t orders[MAX_ORDERS];
static int order_count = 0;

/* Reads the file again if it has changed, so that an idle fake costs no more than a stat a call. */
static void refresh(void) {
    static struct timespec seen;
    static off_t seen_size = -1;
    const char *path = getenv("FAKE_NVML_CONTROL");
    struct stat about;
    if (!path || stat(path, &about) != 0) { order_count = 0; seen_size = -1; return; }
    if (about.st_size == seen_size && memcmp(&about.st_mtim, &seen, sizeof seen) == 0) return;
    FILE *file = fopen(path, "r");
    if (!file) return;
    char line[256];
    order_count = 0;
    while (order_count < MAX_ORDERS && fgets(line, sizeof line, file)) {
        order_t *o = &orders[order_count];
        memset(o, 0, sizeof *o);
        o->parts = sscanf(line, "%31s %79s %79s %119s", o->verb, o->subject, o->where, o->value);
        if (o->parts >= 2) order_count++;
    }
    fclose(file);
    seen = about.st_mtim;
    seen_size = about.st_size;
}

/* The last line that fits wins, so an order can be overruled by appending to the file. */
static int order(const char *verb, const char *name, int device, char *out, size_t size) {
    char which[16];
    snprintf(which, sizeof which, "%d", device);
    refresh();
    for (int i = order_count - 1; i >= 0; i--) {
        const order_t *o = &orders[i];
        if (strcmp(o->verb, verb) != 0 || !matches(o->subject, name)) continue;
        if (o->parts == 4 && !matches(o->where, which)) continue;
        snprintf(out, size, "%s", o->parts == 4 ? o->value : o->where);
        return 1;
    }
    return 0;
}

static long long setting(const char *key, int device, long long fallback) {
    char text[120];
    return order("set", key, device, text, sizeof text) ? atoll(text) : fallback;
}

static int device_count(void) { return (int)setting("devices", -1, 2); }

#define MAX_FUNCTIONS 64

static struct { const char *name; int count; } called[MAX_FUNCTIONS];

static void count_call(const char *function) {
    for (int i = 0; i < MAX_FUNCTIONS; i++) {
        if (!called[i].name) called[i].name = function;
        if (strcmp(called[i].name, function) == 0) { called[i].count++; return; }
    }
}

static nvmlReturn_t enter(const char *function, nvmlDevice_t device) {
    char text[120];
    count_call(function);
    int index = device ? device->index : -1;
    if (order("slow", function, index, text, sizeof text)) usleep((useconds_t)atoi(text));
    if (order("fail", function, index, text, sizeof text)) return atoi(text);
    return init_count > 0 ? SUCCESS : UNINITIALIZED;
}

#define ENTER(device)                                        \
    do {                                                     \
        nvmlReturn_t code_ = enter(__func__, device);        \
        if (code_ != SUCCESS) return code_;                  \
    } while (0)

static void uuid_of(int index, char *out, size_t size) {
    if (order("set", "uuid", index, out, size)) return;
    snprintf(out, size, "GPU-%08x-0000-4000-8000-%012x", 0xa0000000u + (unsigned)index, (unsigned)index);
}

static void bus_id_of(int index, char *out, size_t size) {
    snprintf(out, size, "00000000:%02X:00.0", 0x17 + 0x10 * index);
}

static unsigned long long now_us(void) {
    struct timespec t;
    clock_gettime(CLOCK_REALTIME, &t);
    return (unsigned long long)t.tv_sec * 1000000ULL + (unsigned long long)t.tv_nsec / 1000ULL;
}

/* -- the library itself ------------------------------------------------------------------------------------ */

nvmlReturn_t nvmlInitWithFlags(unsigned int flags) {
    (void)flags;
    char text[120];
    if (order("slow", __func__, -1, text, sizeof text)) usleep((useconds_t)atoi(text));
    if (order("fail", __func__, -1, text, sizeof text)) return atoi(text);
    init_count++;
    return SUCCESS;
}

nvmlReturn_t nvmlShutdown(void) {
    ENTER(NULL);
    init_count--;
    return SUCCESS;
}

/* Not of NVML: what a test wants to see afterwards. */
int fake_init_count(void) { return init_count; }

int fake_calls(const char *function) {
    for (int i = 0; i < MAX_FUNCTIONS && called[i].name; i++)
        if (strcmp(called[i].name, function) == 0) return called[i].count;
    return 0;
}

const char *nvmlErrorString(nvmlReturn_t code) { return code == 999 ? "Unknown Error" : "fake error"; }

nvmlReturn_t nvmlSystemGetDriverVersion(char *out, unsigned int size) {
    ENTER(NULL);
    snprintf(out, size, "999.10.01");
    return SUCCESS;
}

nvmlReturn_t nvmlDeviceGetCount_v2(unsigned int *count) {
    ENTER(NULL);
    *count = (unsigned)device_count();
    return SUCCESS;
}

nvmlReturn_t nvmlDeviceGetHandleByIndex_v2(unsigned int index, nvmlDevice_t *out) {
    if (index >= (unsigned)device_count()) return INVALID_ARGUMENT;
    ENTER(&devices[index]);
    *out = &devices[index];
    return SUCCESS;
}

nvmlReturn_t nvmlDeviceGetHandleByUUID(const char *uuid, nvmlDevice_t *out) {
    ENTER(NULL);
    for (int i = 0; i < device_count(); i++) {
        char mine[80];
        uuid_of(i, mine, sizeof mine);
        if (strcmp(mine, uuid) == 0) { *out = &devices[i]; return SUCCESS; }
    }
    return NOT_FOUND;
}

/* -- identity ---------------------------------------------------------------------------------------------- */

nvmlReturn_t nvmlDeviceGetName(nvmlDevice_t device, char *out, unsigned int size) {
    ENTER(device);
    snprintf(out, size, "Fake Device %c", 'A' + device->index);
    return SUCCESS;
}

nvmlReturn_t nvmlDeviceGetUUID(nvmlDevice_t device, char *out, unsigned int size) {
    ENTER(device);
    uuid_of(device->index, out, size);
    return SUCCESS;
}

nvmlReturn_t nvmlDeviceGetPciInfo_v3(nvmlDevice_t device, nvmlPciInfo_t *out) {
    ENTER(device);
    memset(out, 0, sizeof *out);
    out->bus = 0x17u + 0x10u * (unsigned)device->index;
    bus_id_of(device->index, out->bus_id, sizeof out->bus_id);
    return SUCCESS;
}

/* -- readings ---------------------------------------------------------------------------------------------- */

nvmlReturn_t nvmlDeviceGetUtilizationRates(nvmlDevice_t device, nvmlUtilization_t *out) {
    ENTER(device);
    out->gpu = (unsigned)setting("utilisation_percent", device->index, 50 + device->index);
    out->memory = (unsigned)setting("memory_active_percent", device->index, 20 + device->index);
    return SUCCESS;
}

nvmlReturn_t nvmlDeviceGetMemoryInfo_v2(nvmlDevice_t device, nvmlMemory_v2_t *out) {
    ENTER(device);
    if (out->version != 0x02000028) return INVALID_ARGUMENT;
    out->total = 16384 * MIB;
    out->reserved = 512 * MIB;
    out->used = (unsigned long long)setting("used_bytes", device->index, (long long)(1024 * MIB));
    out->free = out->total - out->reserved - out->used;
    return SUCCESS;
}

nvmlReturn_t nvmlDeviceGetMemoryInfo(nvmlDevice_t device, nvmlMemory_t *out) {
    ENTER(device);
    out->total = 16384 * MIB;
    out->used = 512 * MIB + (unsigned long long)setting("used_bytes", device->index, (long long)(1024 * MIB));
    out->free = out->total - out->used;
    return SUCCESS;
}

#define READING(name, key, fallback)                                              \
    nvmlReturn_t name(nvmlDevice_t device, unsigned int *out) {                   \
        ENTER(device);                                                            \
        *out = (unsigned)setting(key, device->index, fallback);                   \
        return SUCCESS;                                                           \
    }

READING(nvmlDeviceGetPowerUsage, "power_average_mw", 190000 + device->index)
READING(nvmlDeviceGetEnforcedPowerLimit, "power_limit_mw", 300000)
READING(nvmlDeviceGetPowerManagementDefaultLimit, "power_limit_default_mw", 350000)
READING(nvmlDeviceGetCurrPcieLinkGeneration, "pcie_generation", 3)
READING(nvmlDeviceGetCurrPcieLinkWidth, "pcie_width", 8)
READING(nvmlDeviceGetMaxPcieLinkGeneration, "pcie_system_max_generation", 4)
READING(nvmlDeviceGetGpuMaxPcieLinkGeneration, "pcie_device_max_generation", 5)
READING(nvmlDeviceGetMaxPcieLinkWidth, "pcie_max_width", 16)

nvmlReturn_t nvmlDeviceGetTemperature(nvmlDevice_t device, int sensor, unsigned int *out) {
    ENTER(device);
    if (sensor != 0) return INVALID_ARGUMENT;
    *out = (unsigned)setting("temperature_c", device->index, 60 + device->index);
    return SUCCESS;
}

nvmlReturn_t nvmlDeviceGetTemperatureThreshold(nvmlDevice_t device, int threshold, unsigned int *out) {
    ENTER(device);
    static const unsigned int limits[] = {98, 93, 95, 90};
    if (threshold < 0 || threshold > 3) return NOT_SUPPORTED;
    *out = limits[threshold];
    return SUCCESS;
}

nvmlReturn_t nvmlDeviceGetClockInfo(nvmlDevice_t device, int kind, unsigned int *out) {
    ENTER(device);
    *out = (unsigned)setting(kind == 2 ? "memory_clock_mhz" : "sm_clock_mhz", device->index, kind == 2 ? 1593 : 1410);
    return SUCCESS;
}

nvmlReturn_t nvmlDeviceGetMaxClockInfo(nvmlDevice_t device, int kind, unsigned int *out) {
    ENTER(device);
    *out = kind == 2 ? 1593 : 1980;
    return SUCCESS;
}

nvmlReturn_t nvmlDeviceGetCurrentClocksEventReasons(nvmlDevice_t device, unsigned long long *out) {
    ENTER(device);
    *out = (unsigned long long)setting("reasons", device->index, 4);
    return SUCCESS;
}

nvmlReturn_t nvmlDeviceGetCurrentClocksThrottleReasons(nvmlDevice_t device, unsigned long long *out) {
    ENTER(device);
    *out = (unsigned long long)setting("old_reasons", device->index, 32);
    return SUCCESS;
}

/* A steady 200 W, unless `energy_mj` is set. */
nvmlReturn_t nvmlDeviceGetTotalEnergyConsumption(nvmlDevice_t device, unsigned long long *out) {
    ENTER(device);
    *out = (unsigned long long)setting("energy_mj", device->index, (long long)(now_us() / 5));
    return SUCCESS;
}

nvmlReturn_t nvmlDeviceGetTotalEccErrors(nvmlDevice_t device, int error, int counter, unsigned long long *out) {
    ENTER(device);
    (void)counter;
    *out = (unsigned long long)setting(error ? "ecc_uncorrected" : "ecc_corrected", device->index, 0);
    return SUCCESS;
}

nvmlReturn_t nvmlDeviceGetComputeRunningProcesses_v3(nvmlDevice_t device, unsigned int *count, nvmlProcessInfo_t *out) {
    ENTER(device);
    unsigned int room = *count, there = (unsigned)setting("processes", device->index, device->index == 0 ? 2 : 0);
    *count = there;
    if (there > room) return INSUFFICIENT_SIZE;
    for (unsigned int i = 0; i < there; i++) {
        out[i].pid = i == 0 ? (unsigned)getpid() : 4000 + i;
        out[i].used_bytes = i == 0 ? 900 * MIB : ~0ULL;
        out[i].gpu_instance = out[i].compute_instance = ~0u;
    }
    return SUCCESS;
}

nvmlReturn_t nvmlDeviceGetFieldValues(nvmlDevice_t device, int count, nvmlFieldValue_t *fields) {
    ENTER(device);
    for (int i = 0; i < count; i++) {
        char name[16], text[120];
        snprintf(name, sizeof name, "%u", fields[i].field);
        fields[i].timestamp_us = (int64_t)now_us();
        fields[i].value_type = VALUE_UINT;
        fields[i].value.ull = 0;
        fields[i].result = SUCCESS;
        if (order("field_fail", name, device->index, text, sizeof text)) fields[i].result = atoi(text);
        else if (fields[i].field == 185) fields[i].value.ui = (unsigned)setting("power_average_mw", device->index, 190000);
        else if (fields[i].field == 186) fields[i].value.ui = (unsigned)setting("power_instant_mw", device->index, 210000 + device->index);
        else fields[i].result = NOT_SUPPORTED;
    }
    return SUCCESS;
}

nvmlReturn_t nvmlDeviceGetMigMode(nvmlDevice_t device, unsigned int *current, unsigned int *pending) {
    ENTER(device);
    *current = *pending = (unsigned)setting("mig", device->index, 0);
    return SUCCESS;
}
