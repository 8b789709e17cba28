/* foretrace_compat.h - annotations made for other tools, as Foretrace's.
 *
 * For C and C++ programs that carry them already: include this in place of the
 * other tool's header. Needs no library, and does nothing in a plain run.
 * docs/annotations.md lists what becomes of each.
 */
#ifndef FORETRACE_COMPAT_H
#define FORETRACE_COMPAT_H

#include <stdlib.h>
#include <string.h>

#include "foretrace.h"

/* PerWiz (Kanbe et al., 2003): a parallel region. It is a phase here, and has
 * the name of the function that it stands in. */
#define PRGN_BEGIN FORETRACE_PHASE_BEGIN(__func__)
#define PRGN_END FORETRACE_PHASE_END(__func__)

/* Howell's thesis (1996), section 2.3: time_mark names what the program did
 * since the time_mark or time_set before. */
#define time_set(now)          \
  do {                         \
    (void)(now);               \
    FORETRACE_PHASE_BEGIN(""); \
  } while (0)
#define time_mark(name)        \
  do {                         \
    FORETRACE_PHASE_END(name); \
    FORETRACE_PHASE_BEGIN(""); \
  } while (0)
#define time_total(now)      \
  do {                       \
    (void)(now);             \
    FORETRACE_PHASE_END(""); \
  } while (0)
#define time_trace(name) FORETRACE_MARK(name)

/* MPE's logging: states are phases, single events are marks. Event numbers
 * below FORETRACE_MPE_EVENTS are known, all others do nothing. */
#define FORETRACE_MPE_EVENTS 1024

enum foretrace_mpe_role {
  FORETRACE_MPE_UNKNOWN,
  FORETRACE_MPE_START,
  FORETRACE_MPE_END,
  FORETRACE_MPE_SOLO
};

struct foretrace_mpe_event {
  enum foretrace_mpe_role role;
  char *name;
};

/* One table for all files of the program; the last entry counts the numbers
 * given out. */
struct foretrace_mpe_table {
  struct foretrace_mpe_event event[FORETRACE_MPE_EVENTS];
  int numbers;
};
__attribute__((weak)) struct foretrace_mpe_table foretrace_mpe;

static inline void foretrace_mpe_describe(int number, enum foretrace_mpe_role role,
                                          const char *name) {
  struct foretrace_mpe_event *event;
  const size_t room = strlen(name) + 1;
  if (number < 0 || number >= FORETRACE_MPE_EVENTS) return;
  event = &foretrace_mpe.event[number];
  free(event->name);
  event->name = (char *)malloc(room);
  if (event->name) memcpy(event->name, name, room);
  event->role = event->name ? role : FORETRACE_MPE_UNKNOWN;
}

static inline int MPE_Init_log(void) { return 0; }
static inline int MPE_Initialized_logging(void) { return 1; }
static inline int MPE_Finish_log(const char *name) { return (void)name, 0; }
static inline int MPE_Log_get_event_number(void) { return foretrace_mpe.numbers++; }
static inline int MPE_Log_get_solo_eventID(int *number) {
  *number = MPE_Log_get_event_number();
  return 0;
}
static inline int MPE_Log_get_state_eventIDs(int *start, int *end) {
  *start = MPE_Log_get_event_number();
  *end = MPE_Log_get_event_number();
  return 0;
}
static inline int MPE_Describe_state(int start, int end, const char *name, const char *colour) {
  (void)colour;
  foretrace_mpe_describe(start, FORETRACE_MPE_START, name);
  foretrace_mpe_describe(end, FORETRACE_MPE_END, name);
  return 0;
}
static inline int MPE_Describe_event(int number, const char *name, const char *colour) {
  (void)colour;
  foretrace_mpe_describe(number, FORETRACE_MPE_SOLO, name);
  return 0;
}
static inline int MPE_Describe_info_state(int start, int end, const char *name, const char *colour,
                                          const char *format) {
  (void)format;
  return MPE_Describe_state(start, end, name, colour);
}
static inline int MPE_Describe_info_event(int number, const char *name, const char *colour,
                                          const char *format) {
  (void)format;
  return MPE_Describe_event(number, name, colour);
}
/* `text` is not kept. */
static inline int MPE_Log_event(int number, int data, const char *text) {
  const struct foretrace_mpe_event *event;
  (void)text;
  (void)data;
  if (number < 0 || number >= FORETRACE_MPE_EVENTS) return 0;
  event = &foretrace_mpe.event[number];
  if (event->role == FORETRACE_MPE_START) FORETRACE_PHASE_BEGIN(event->name);
  if (event->role == FORETRACE_MPE_END) FORETRACE_PHASE_END(event->name);
  if (event->role == FORETRACE_MPE_SOLO) FORETRACE_MARK_VALUE(event->name, data);
  return 0;
}
static inline int MPE_Log_bare_event(int number) { return MPE_Log_event(number, 0, NULL); }

#endif /* FORETRACE_COMPAT_H */
