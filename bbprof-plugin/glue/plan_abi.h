/* What the C++ glue and the Rust core tell each other: flat arrays, fixed-width integers, pointer + length.
 *
 * The glue owns every ModuleView and all it points to; the core reads it during one call of bbprof_plan_module.
 * The core owns the ModulePlan it returns, until bbprof_free_plan. Mirrors src/view.rs; both sides assert sizes. */
#ifndef BBPROF_PLAN_ABI_H
#define BBPROF_PLAN_ABI_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct BbprofText {
  const char *data;
  uint64_t size_bytes;
} BbprofText;

/* A source location; files and function are positions in ModuleView.strings. */
typedef struct BbprofLocation {
  uint32_t file;
  uint32_t line;
  uint32_t column;
  uint32_t discriminator;
  uint32_t function;
  uint32_t function_file;
  uint32_t function_line;
  uint32_t inlined_at; /* position + 1; 0 = not inlined */
} BbprofLocation;

/* The MD5 of a source file in hex digits, as the compiler read it; both are positions in ModuleView.strings. */
typedef struct BbprofChecksum {
  uint32_t file;
  uint32_t md5;
} BbprofChecksum;

enum BbprofCallFlags {
  BBPROF_CALL_MAY_VANISH = 1,    /* not known to return: may exit, throw, longjmp */
  BBPROF_CALL_ENDS_FUNCTION = 2, /* noreturn before unreachable, or a tail call before ret */
  BBPROF_CALL_INTRINSIC = 4,     /* not reported as a call */
  BBPROF_CALL_RETURNS_TWICE = 8, /* setjmp and its like */
  BBPROF_CALL_RETURNS_BY_OTHER = 16, /* a tail call before a jump to a return: nothing is counted behind it */
};

enum BbprofCalleeKind { BBPROF_CALLEE_SYMBOL = 0, BBPROF_CALLEE_INDIRECT = 1, BBPROF_CALLEE_ASM = 2 };

typedef struct BbprofCall {
  uint32_t position; /* of the call among the instructions of its block */
  uint32_t flags;
  uint32_t callee_kind;
  uint32_t callee;          /* string; only for BBPROF_CALLEE_SYMBOL */
  uint32_t callee_function; /* position + 1 in ModuleView.functions when its exact body is in this module; else 0 */
} BbprofCall;

enum BbprofTerminator {
  BBPROF_TERMINATOR_EXIT = 0, /* ret, unreachable */
  BBPROF_TERMINATOR_JUMP = 1,
  BBPROF_TERMINATOR_BRANCH = 2,
  BBPROF_TERMINATOR_SWITCH = 3,
  BBPROF_TERMINATOR_INVOKE = 4, /* successors: normal, unwind */
  BBPROF_TERMINATOR_INDIRECT = 5,
  BBPROF_TERMINATOR_CALLBR = 6, /* successors: fallthrough, indirect ones */
  BBPROF_TERMINATOR_RESUME = 7,
};

/* One successor slot of a terminator. */
typedef struct BbprofSuccessor {
  uint32_t block;
  uint32_t reserved;
  uint64_t weight; /* estimated frequency */
} BbprofSuccessor;

/* A loop whose turns are known in front of it, and that nothing but them ends: no call in it may vanish. */
typedef struct BbprofLoop {
  uint32_t latch;  /* block whose successor slot `slot` goes back to the loop's header */
  uint32_t slot;
  uint32_t before;      /* block in front of the loop */
  uint32_t before_slot; /* its successor slot that enters the loop */
  uint32_t instructions; /* estimated, that work out the number of turns */
  uint32_t reserved;
} BbprofLoop;

/* A loop that may turn without a call or a loop in it, and the blocks through which it
 * does; or all blocks of a quiet one. Outer loops come first. */
typedef struct BbprofTightLoop {
  uint32_t header;
  uint32_t instructions; /* of all these blocks, without phis */
  uint32_t shortest; /* of the shortest turn; 2^32-1: of a quiet loop with others in it */
  uint32_t blocks_begin; /* index the loop_blocks of the function */
  uint32_t blocks_end;
  uint32_t takes_chunks; /* 1: goes through memory by eight bytes and more at once that are no integer of that size */
  uint32_t is_quiet; /* 1: without calls and without memory that others may watch, nobody can look at counters while it runs; all of its exits can
                      * be split */
  uint32_t can_unroll; /* 1: its turns can be repeated */
} BbprofTightLoop;

/* instructions_begin.. index the opcodes, instruction_locations and ir arrays of the function; debug intrinsics are left out. */
typedef struct BbprofBlock {
  uint32_t instructions_begin;
  uint32_t instructions_end;
  uint32_t calls_begin;
  uint32_t calls_end;
  uint32_t successors_begin;
  uint32_t successors_end;
  uint32_t terminator;
  uint32_t phis; /* how many it begins with */
  uint64_t weight;
  uint32_t decided_before; /* 1: the instruction before the terminator is what that branches on */
  uint32_t reserved;
} BbprofBlock;

enum BbprofLinkage {
  BBPROF_LINKAGE_EXTERNAL = 0,
  BBPROF_LINKAGE_INTERNAL = 1,
  BBPROF_LINKAGE_COMDAT = 2,
  BBPROF_LINKAGE_HIDDEN = 3,
  BBPROF_LINKAGE_ELSEWHERE = 4 /* of a function that is skipped: another module holds the code that runs */
};

typedef struct BbprofFunction {
  uint32_t symbol;
  uint32_t linkage;
  uint32_t unit;        /* string + 1; 0 = unknown */
  uint32_t file;        /* string + 1; 0 = unknown */
  uint32_t line;
  uint32_t skip_reason; /* string + 1; 0 = instrument it */
  uint32_t exact;       /* 1: this body is the one that runs */
  uint32_t reserved;
  const BbprofBlock *blocks;
  uint64_t num_blocks;
  const uint8_t *opcodes;
  const uint32_t *instruction_locations; /* location + 1; 0 = none */
  const uint32_t *ir;                    /* strings; null unless kept */
  uint64_t num_instructions;
  const BbprofCall *calls;
  uint64_t num_calls;
  const BbprofSuccessor *successors;
  uint64_t num_successors;
  const BbprofLoop *loops;
  uint64_t num_loops;
  const BbprofTightLoop *tight_loops;
  uint64_t num_tight_loops;
  const uint32_t *loop_blocks;
  uint64_t num_loop_blocks;
} BbprofFunction;

/* Another name of a function of the module, which others may call it by. */
typedef struct BbprofAlias {
  uint32_t symbol;   /* string */
  uint32_t function; /* string: the function's own symbol */
  uint32_t linkage;
} BbprofAlias;

typedef struct BbprofModuleView {
  BbprofText source;
  BbprofText directory; /* empty = unknown */
  BbprofText llvm_version;
  uint32_t pic_without_pie; /* 1: may end up in a shared library */
  uint32_t reserved;
  const BbprofText *strings;
  uint64_t num_strings;
  const BbprofLocation *locations;
  uint64_t num_locations;
  const BbprofChecksum *checksums;
  uint64_t num_checksums;
  const uint32_t *opcode_names; /* strings, by opcode */
  uint64_t num_opcodes;
  const BbprofFunction *functions;
  uint64_t num_functions;
  const BbprofAlias *aliases;
  uint64_t num_aliases;
} BbprofModuleView;

enum BbprofPlaceKind {
  BBPROF_PLACE_BEFORE = 0, /* before instruction `position` of `block`; 0 = the block's first insertion point */
  BBPROF_PLACE_END = 1,    /* before the terminator of `block` */
  BBPROF_PLACE_SPLIT = 2,  /* in a new block on the successor slot `position` of `block`, and all slots with the same target */
  BBPROF_PLACE_LANDING = 3, /* in the target of that slot, for control that comes by it */
  BBPROF_PLACE_LOOP = 4,   /* in front of loop `position` of the function, by its number of turns; `block` is the latch */
};

/* Where in the IR code is to stand. */
typedef struct BbprofPlace {
  uint32_t kind;
  uint32_t block;
  uint32_t position;
} BbprofPlace;

typedef struct BbprofSite {
  BbprofPlace place;
  uint32_t counter; /* position in the function's array, the function's first counter already added */
  uint32_t register_loop; /* tight loop, position + 1, that has a register for it; 0: none has */
  uint32_t turns; /* so many turns of that loop follow each other, and the last adds for them; 0: the loop stays as it is */
} BbprofSite;

typedef struct BbprofArray {
  BbprofText symbol;
  uint32_t num_counters;
  uint32_t reserved;
} BbprofArray;

enum BbprofPathStepKind {
  BBPROF_PATH_SET = 0,          /* r = value */
  BBPROF_PATH_ADD = 1,          /* r += value */
  BBPROF_PATH_COUNT_AT = 2,     /* path `value` is counted: counter[first_counter + value]++, or in a hash table */
  BBPROF_PATH_COUNT_BEHIND = 3, /* path `r + value` likewise */
};

typedef struct BbprofPathStep {
  BbprofPlace place;
  uint32_t what; /* BbprofPathStepKind */
  uint64_t value;
} BbprofPathStep;

typedef struct BbprofFunctionPlan {
  uint32_t array;
  uint32_t first_counter;
  const BbprofSite *sites;
  uint64_t num_sites;
  const BbprofPathStep *path_steps; /* where several share a place, in the order in which they stand there */
  uint64_t num_path_steps;
  const uint32_t *branch_weights; /* by position in Function.successors; none, or one for each */
  uint64_t num_branch_weights;
  uint32_t hashes_paths; /* 1: the runtime counts paths in hash tables, and the first counter stands for the function */
  uint32_t holds_addresses; /* 1: registers of loops stand in the counters' addresses; 0: for the counters themselves */
} BbprofFunctionPlan;

enum BbprofStorage { BBPROF_STORAGE_TLS = 0, BBPROF_STORAGE_DELTA = 1, BBPROF_STORAGE_SHARED = 2, BBPROF_STORAGE_ATOMIC = 3 };

typedef struct BbprofModulePlan {
  BbprofText error; /* empty = success */
  uint32_t storage;
  uint32_t closes_loops; /* 1: values that leave loops get phis there */
  uint32_t repeats_dispatches; /* 1: the jump of computed gotos is repeated where control comes from */
  uint32_t reserved;
  BbprofText marker_symbol;
  BbprofText manifest;
  const BbprofArray *arrays;
  uint64_t num_arrays;
  const BbprofFunctionPlan *functions; /* by position in ModuleView.functions */
  uint64_t num_functions;
  void *owner;
} BbprofModulePlan;

/* Opens the options file beside the plugin. Null on success, else a message that lives as long as the process. */
const char *bbprof_load_options(const char *plugin_path);

/* Whether the options ask for the IR text. */
uint32_t bbprof_wants_ir(void);

/* Whether counters are placed by more than what LLVM guesses. */
uint32_t bbprof_wants_guesses(void);

/* Whether functions hand each other where their thread's counters are, in a module that may end up in a shared library or not. */
uint32_t bbprof_hands_counters(uint32_t pic_without_pie);

/* Plans a module. Never null. */
const BbprofModulePlan *bbprof_plan_module(const BbprofModuleView *view);
void bbprof_free_plan(const BbprofModulePlan *plan);

#ifdef __cplusplus
}
static_assert(sizeof(BbprofText) == 16 && sizeof(BbprofLocation) == 32 && sizeof(BbprofCall) == 20, "mirrors src/view.rs");
static_assert(sizeof(BbprofSuccessor) == 16 && sizeof(BbprofBlock) == 48 && sizeof(BbprofFunction) == 160 && sizeof(BbprofLoop) == 24 && sizeof(BbprofTightLoop) == 32, "mirrors src/view.rs");
static_assert(sizeof(BbprofModuleView) == 152 && sizeof(BbprofAlias) == 12 && sizeof(BbprofChecksum) == 8 && sizeof(BbprofPlace) == 12 && sizeof(BbprofSite) == 24, "mirrors src/view.rs");
static_assert(sizeof(BbprofArray) == 24 && sizeof(BbprofFunctionPlan) == 64 && sizeof(BbprofPathStep) == 24 && sizeof(BbprofModulePlan) == 104, "mirrors src/view.rs");
#endif

#endif
