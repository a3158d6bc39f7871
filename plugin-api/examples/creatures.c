/* A plugin in plain C, written against workbench_plugin.h alone: two tools, one of which asks the host for a document.
 *
 *     cc -shared -fPIC -I plugin-api/include -o libcreatures.so plugin-api/examples/creatures.c
 *
 * and in `domain.toml`: library = "libcreatures.so". docs/abi.md tells what the messages are: one line of JSON, the
 * head, then a body. A plugin of more than an afternoon takes a JSON library for them; here the few that matter are
 * recognised by their text.
 */
#include "workbench_plugin.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char HELLO[] =
    "{\"hello\":{\"wire\":2,\"plugin_api\":\"0.1.0\",\"name\":\"creatures\",\"features\":[]}}\n";

static const char TOOLS[] =
    "{\"tools\":["
    "{\"name\":\"get_creature\",\"description\":\"Everything the bestiary knows about one creature. Returns the record "
    "as JSON.\",\"input_schema\":{\"type\":\"object\",\"properties\":{\"name\":{\"type\":\"string\",\"description\":"
    "\"Its name, such as owlbear.\"}},\"required\":[\"name\"],\"additionalProperties\":false}},"
    "{\"name\":\"count_letters\",\"description\":\"Counts the letters of a name.\",\"input_schema\":{\"type\":"
    "\"object\",\"properties\":{\"name\":{\"type\":\"string\"}},\"required\":[\"name\"],"
    "\"additionalProperties\":false}}]}\n";

uint32_t workbench_abi_version(void) { return WORKBENCH_ABI_VERSION; }

/* What is given away in `out` comes back here, once. */
void workbench_free(workbench_buffer buffer) { free(buffer.data); }

/* Gives away two texts, one behind the other. */
static int32_t reply(workbench_buffer *out, const char *head, const void *body, size_t length) {
    size_t head_length = strlen(head);
    out->data = malloc(head_length + length);
    if (out->data == NULL) abort(); /* costs this call only */
    memcpy(out->data, head, head_length);
    if (length > 0) memcpy(out->data + head_length, body, length);
    out->length = out->capacity = head_length + length;
    return WORKBENCH_OK;
}

/* A refusal, which the model reads. */
static int32_t refuse(workbench_buffer *out, const char *message) {
    char head[300];
    snprintf(head, sizeof head, "{\"error\":{\"message\":\"%s\"}}\n", message);
    return reply(out, head, NULL, 0);
}

/* Whether the first line of a message holds this text. */
static int head_has(const uint8_t *head, size_t length, const char *text) {
    size_t wanted = strlen(text);
    for (size_t at = 0; at + wanted <= length; at++)
        if (memcmp(head + at, text, wanted) == 0) return 1;
    return 0;
}

/* Copies the argument "name" out of {"name": "…"}. Returns 0 unless it is a short word of letters and dashes: it goes
 * into an address and a message, and a model may write anything. */
static int name_of(const uint8_t *body, size_t length, char *name, size_t room) {
    char text[256] = {0};
    if (length >= sizeof text) return 0;
    memcpy(text, body, length);
    const char *at = strstr(text, "\"name\"");
    at = at ? strchr(at + 6, ':') : NULL;
    at = at ? strchr(at, '"') : NULL;
    size_t letters = at ? strspn(at + 1, "abcdefghijklmnopqrstuvwxyz-") : 0;
    if (letters == 0 || letters >= room || at[1 + letters] != '"') return 0;
    memcpy(name, at + 1, letters);
    name[letters] = '\0';
    return 1;
}

/* Asks the host for a document and hands it on unread. An error of the host is one of the tool: both look alike. */
static int32_t get_creature(const workbench_host_table *host, const char *name, workbench_buffer *out) {
    if (host == NULL) return refuse(out, "this tool needs a host, and it was called without one");
    char request[200];
    int length = snprintf(request, sizeof request, "{\"get_json\":{\"path\":\"/creatures/%s\",\"query\":[]}}\n", name);
    workbench_buffer got = {0};
    int32_t status = host->request(host->context, (const uint8_t *)request, (size_t)length, &got);
    const uint8_t *end = got.length > 0 ? memchr(got.data, '\n', got.length) : NULL;
    int32_t result;
    if (status != WORKBENCH_OK || end == NULL)
        result = refuse(out, "the host did not answer");
    else if (head_has(got.data, (size_t)(end - got.data), "\"json\""))
        result = reply(out, "\"answer\"\n", end + 1, got.length - (size_t)(end + 1 - got.data));
    else
        result = reply(out, "", got.data, got.length);
    host->free(got);
    return result;
}

int32_t workbench_call(const workbench_host_table *host, const uint8_t *data, size_t length, workbench_buffer *out) {
    if (out == NULL) return WORKBENCH_BAD_REQUEST;
    *out = (workbench_buffer){0};
    const uint8_t *end = data ? memchr(data, '\n', length) : NULL;
    if (end == NULL) return WORKBENCH_BAD_REQUEST;
    size_t head = (size_t)(end - data);
    if (head_has(data, head, "{\"hello\":")) return reply(out, HELLO, NULL, 0);
    if (head_has(data, head, "\"describe\"")) return reply(out, TOOLS, NULL, 0);

    char name[64];
    if (!name_of(end + 1, length - head - 1, name, sizeof name))
        return refuse(out, "bad arguments: name must be a word of small letters and dashes");
    if (head_has(data, head, "\"tool\":\"get_creature\"")) return get_creature(host, name, out);
    if (head_has(data, head, "\"tool\":\"count_letters\"")) {
        char number[24];
        int digits = snprintf(number, sizeof number, "%zu", strlen(name));
        return reply(out, "\"answer\"\n", number, (size_t)digits);
    }
    return refuse(out, "unknown tool; there are get_creature, count_letters");
}
