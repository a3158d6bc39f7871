/* The boundary of a workbench plugin, for plugins that are not written in Rust.
 *
 * docs/abi.md tells what the messages are. This file is held to plugin-api/src/abi.rs by a test.
 *
 * Who owns what:
 * - The bytes of a message belong to the caller and are only read, until the function returns.
 * - The bytes of a reply belong to the side that made them: it gives a buffer away through `out`,
 *   and gets it back once, through its own `free`. No side frees with the other's allocator.
 * - A table may be used until the call it came with returns, on any thread. What its `request` gave
 *   may be kept for longer: its `free` may be called at any time.
 * - Every function may be called on several threads at once, and never unwinds.
 */
#ifndef WORKBENCH_PLUGIN_H
#define WORKBENCH_PLUGIN_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Version of the symbols, structures and ownership rules in this file. */
#define WORKBENCH_ABI_VERSION 1

/* The call was answered; `out` holds the reply. */
#define WORKBENCH_OK 0
/* The request was not understood; `out` holds a text that says why. */
#define WORKBENCH_BAD_REQUEST 1

/* Bytes with an owner: whoever made them frees them. */
typedef struct workbench_buffer {
    uint8_t *data;   /* first byte; null when `capacity` is 0 */
    size_t length;   /* bytes in use */
    size_t capacity; /* bytes allocated; only the owner looks at it */
} workbench_buffer;

/* What the host gives a plugin with each call. */
typedef struct workbench_host_table {
    /* Handed back to the functions below, untouched. */
    void *context;
    /* Answers one message. Returns WORKBENCH_OK; `out` then holds the reply, to be freed with `free`. */
    int32_t (*request)(void *context, const uint8_t *data, size_t length, workbench_buffer *out);
    /* Frees a buffer that `request` filled, at any time. */
    void (*free)(workbench_buffer buffer);
} workbench_host_table;

/* What a plugin exports. */

/* WORKBENCH_ABI_VERSION; the one signature that never changes. */
uint32_t workbench_abi_version(void);

/* Answers one message. `host` may be null: then no tool that needs the host works. */
int32_t workbench_call(const workbench_host_table *host, const uint8_t *data, size_t length, workbench_buffer *out);

/* Frees a buffer that workbench_call filled. */
void workbench_free(workbench_buffer buffer);

#ifdef __cplusplus
}
#endif

#endif
