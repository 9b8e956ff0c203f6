/* SPDX-License-Identifier: MIT */
/*
 * prof: a sampling CPU profiler that talks to the kernel by itself.
 *
 * The map of the house, in reading order.  In front of a name stands the floor
 * of the file; where nothing stands, it is the floor of the line above.  A file
 * includes only files of lower floors and of its own room: a room is a folder,
 * or FILE.c with its FILE.h; prof, run, check and options share one.
 *
 *	7  prof.c           you are here: one run, a verb a stage
 *	   run.[ch]         the stages of a run
 *	   run_sample.c     ... and the one in which ticks come
 *	   run_live.c       what is drawn meanwhile
 *	   check.[ch]       what this machine allows
 *	   options.[ch]     the command line, from one table
 *	   bpf_prog.c       in the kernel: a tick becomes a count and two stacks
 *	   embedded.[ch]    ... compiled, inside this program
 *	0  bpf_prog.h       what both sides know: keys and values of the maps
 *	   bpf/lanes.h      two hashes of a stack in one pass
 *	   bpf/unwind.h     ... and the tables to walk user stacks by
 *	   bpf/walk.h       walks them, in the kernel
 *	   bpf/helpers.h    how a BPF program calls helpers and declares maps
 *	   bpf/embed.S      the compiled BPF object, inside this program
 *	2  loader.[ch]      object file -> maps and programs in the kernel
 *	   loader_object.[ch]  what clang wrote: maps, programs
 *	1  elf/object.[ch]  ELF: sections
 *	   elf/symbols.[ch] ELF: symbol tables
 *	   elf/btf.[ch]     BTF: types, of which a map's attributes are made
 *	   sys/bpf.[ch]     bpf(2), a function per command
 *	2  sampler.[ch]     a clock on each CPU, and the program at its tick
 *	1  sys/perf.[ch]    perf_event_open(2) and its ioctls
 *	   sys/events.[ch]  what can be sampled, by name
 *	   sys/cpus.[ch]    which CPUs are there
 *	   sys/regular.[ch] files of others, opened with care
 *	   sys/ring.[ch]    what the kernel writes about an event
 *	   sys/ringbuf.[ch] memory that BPF programs share with us
 *	   sys/system.[ch]  clocks, limits, sysctls
 *	   sys/terminal.[ch]  how wide it is, and whether it has colours
 *	   sys/signals.[ch] Ctrl-C, between two drains
 *	   sys/command.[ch] a program to profile, held until all is ready
 *	   sys/advice.[ch]  what to do about which errno
 *	   sys/explain.[ch] --explain: each call as it is made, whose lines
 *	                    sys/explain_lines.h has, for sys/explain_bpf.c
 *	                    and sys/explain_perf.c
 *	   sys/insn.[ch]    BPF instructions as text
 *	6  tui/live.[ch]    the hottest functions while it runs, drawn in place
 *	   tui/heat.[ch]    what is hot in a profile that is being filled
 *	3  samples.[ch]     drain: reads the maps while they are filled
 *	   stackid.[ch]     the same for the textbook's engine
 *	4  profile.[ch]     gathers samples, names them
 *	   profile_build.[ch]  a profile of what others sampled
 *	   profile_parts.[ch]  for both: tasks, images, frames, each once
 *	   meta.[ch]        how a profile came to be
 *	3  sym/kernel.[ch]  kernel stacks to names
 *	   sym/asked.[ch]   names from the kernel itself
 *	1  kallsyms.[ch]    names from /proc/kallsyms, read once
 *	3  sym/user.[ch]    user addresses to names, or to why there is none
 *	   sym/images.[ch]  the files that are asked for names
 *	   sym/image.[ch]   all names of one file, by offset
 *	   sym/table.[ch]   functions by address
 *	   sym/symbols.[ch] which symbols are functions
 *	   sym/plt.[ch]     stubs that lead to other files
 *	   sym/debug.[ch]   the file with the symbols that were split off
 *	   sym/jit.[ch]     code that a process made itself
 *	   sym/perfmap.[ch] ... and its names for it
 *	   sym/clones.[ch]  one function, several symbols
 *	   sym/demangle.[ch]   names as people wrote them
 *	   sym/iberty.[ch]  what the library for that stands on
 *	1  elf/file.[ch]    anybody's ELF file: sections and segments
 *	   elf/symtab.[ch]  its symbols
 *	   elf/packed.[ch]  its compressed sections
 *	   elf/dynamic.[ch] what the dynamic linker is told
 *	   elf/relocs.[ch]  what the dynamic linker writes
 *	   elf/notes.[ch]   build-ids
 *	   elf/frames.[ch]  where functions begin and end, of stripped files
 *	   elf/pclntab.[ch] Go's own symbols
 *	1  sys/limit.[ch]   ends what takes too long
 *	2  proc/sideband.[ch]  forks, execs and mappings, as they happen
 *	   proc/targets.[ch]   which samples are of the tasks asked for
 *	   proc/namespace.[ch] whose process numbers we speak
 *	   proc/spaces.[ch] what code was where in every process, at every time
 *	   proc/looks.c     ... by /proc, where records do not tell all
 *	   proc/spaces_parts.h  what the two share
 *	   proc/space.[ch]  ... in one process, as it changed
 *	   proc/processes.[ch] ... by process number
 *	   proc/snapshot.[ch]  ... of which nobody told
 *	   proc/ranges.[ch] sets of address ranges that share memory
 *	   proc/files.[ch]  what is mapped, found again and held
 *	   proc/roots.[ch]  where the paths of a process lead
 *	   proc/maps.[ch]   /proc/PID/maps
 *	   proc/identity.[ch] who a process is
 *	   proc/comms.[ch]  how threads are called now
 *	   proc/stat.[ch]   /proc/stat: what the hypervisor took
 *	4  unwind/unwind.[ch]  keeps the walker in the kernel supplied
 *	   unwind/walk.[ch] walks what it sent a copy of
 *	   unwind/tables.[ch]  the rows of all files, in the kernel's maps
 *	   unwind/cfi.[ch]  .eh_frame and .debug_frame to rows: functions
 *	   unwind/cfa.[ch]  ... and what holds where in one
 *	   unwind/switches.[ch]  Go's functions that change stacks
 *	   unwind/dwarf.[ch]  numbers as DWARF writes them
 *	5  out/out.[ch]     the table of output formats
 *	5  in/in.[ch]       recordings read back, one or two to compare
 *	   in/folded.[ch]   folded stacks
 *	   in/pprof.[ch]    pprof: samples
 *	   in/pprof_tables.[ch]  pprof: what samples refer to
 *	   in/pprof_frames.c  pprof: locations as frames
 *	   out/folded.[ch]  folded stacks
 *	   out/report.[ch]  what burns the CPU, for a person
 *	   out/report_parts.h  its parts:
 *	   out/report_words.c   head and balance
 *	   out/report_tables.c  functions and processes
 *	   out/report_tree.c    the call tree
 *	   out/report_diff.c    what changed between two
 *	   out/summary.[ch] sums by function and by process
 *	   out/branches.[ch]  a tree pruned to what matters
 *	   out/sheet.[ch]   text as a terminal can show it
 *	   out/pprof.[ch]   for go tool pprof, and all that store profiles
 *	   out/speedscope.[ch]  for the viewer of that name
 *	   out/perf_script.[ch]  for what reads perf script's text
 *	   out/html.[ch]    a page: a flame graph to click and search in
 *	   out/svg.[ch]     a flame graph that stands still
 *	   out/tree.[ch]    stacks that begin alike, as a tree
 *	   out/json.[ch]    texts for JSON, also inside of HTML
 *	   page/            the page's markup, style and script
 *	   page/embed.S     these, inside this program
 *	   out/balance.[ch] where each tick went
 *	0  lib/log.[ch]     every message
 *	   lib/memory.[ch]  arrays that grow
 *	   lib/bytes.[ch]   foreign bytes, bounds checked
 *	   lib/wanted.[ch]  what of a large table is needed
 *	   lib/search.[ch]  where in a sorted array
 *	   lib/sort.[ch]    ... which this makes of one
 *	   lib/input.[ch]   foreign files, copied before they are looked at
 *	   lib/unpack.[ch]  compressed sections and files
 *	   lib/pack.[ch]    gzip files, written
 *	   lib/wire.[ch]    protobuf, both ways
 *	   lib/checksum.[ch]   whether a file is what it says
 *	   lib/columns.[ch] how wide names are, and how they are cut
 *	   lib/text.[ch]    texts that grow, numbers, safe names
 *	   lib/file.[ch]    lines in, whole files out
 *	   lib/index.[ch]   hash index over an array
 *	   lib/names.[ch]   each text once
 *	   lib/lists.[ch]   each list of numbers once
 *	   lib/random.[ch]  secrets for hashes and names
 *	   arch/arch.h      which CPU, by arch/x86_64.h, arch/arm64.h and
 *	                    arch/other.h
 *	   arch/bpf.h       the same for programs in the kernel, by
 *	                    arch/bpf_x86_64.h and arch/bpf_other.h; what calls
 *	                    look like, for both: arch/call_x86_64.h
 */
#include <stdint.h>
#include <string.h>

#include "check.h"
#include "embedded.h"
#include "lib/file.h"
#include "lib/log.h"
#include "lib/text.h"
#include "options.h"
#include "out/out.h"
#include "run.h"
#include "sys/explain.h"
#include "sys/signals.h"
#include "sys/system.h"

/* One run.  The remark says what is done, and in which files. */
static int profile_machine(const struct options *options, uint64_t begin)
{
	struct run run = {
		.options = options, .begin = begin, .cgroup_fd = -1,
		.object = embedded_object(),
	};
	int failed;

	signals_open();
	failed = run_check(&run) ||	/* can we write there? lib/file */
		 run_choose(&run) ||	/* CPUs, tasks: sys/cpus, proc/targets */
		 run_load(&run) ||	/* maps and program: loader, samples */
		 run_open(&run) ||	/* what fills up: profile */
		 run_start(&run) ||	/* clocks: sampler, proc/sideband */
		 run_sample(&run) ||	/* drain, again and again: samples */
		 run_name(&run) ||	/* addresses to names: sym/, kallsyms */
		 run_describe(&run) ||	/* what was not seen: out/balance */
		 run_write(&run) ||	/* the result: out/ */
		 run_balance(&run);	/* on stderr */
	return run_close(&run, failed);
}

/* The same for what was sampled before, here or elsewhere: no kernel is asked. */
static int profile_recording(const struct options *options)
{
	struct run run = { .options = options, .cgroup_fd = -1 };
	int failed;

	failed = run_check(&run) ||	/* can we write there? lib/file */
		 run_read(&run) ||	/* one, or two to compare: in/ */
		 run_write(&run);	/* the result: out/ */
	return run_close(&run, failed);
}

static const char libraries[] =
#ifdef PROF_ZLIB
	" zlib"
#endif
#ifdef PROF_LZMA
	" liblzma"
#endif
#ifdef PROF_IBERTY
	" libiberty"
#endif
	"";

static enum explain_level explained(const struct options *options)
{
	return options->explain > 1 ? EXPLAIN_CODE :
	       options->explain ? EXPLAIN_CALLS : EXPLAIN_NOTHING;
}

/* --help, --version, --check: all that is written without a profile. */
static int print(const char *text)
{
	struct file_out out;
	int error;

	file_out_open(&out, NULL);
	file_out_write(&out, text, strlen(text));
	error = file_out_close(&out);
	if (error)
		log_error("stdout: write: %s", system_strerror(error));
	return error ? 1 : 0;
}

static int print_help(void)
{
	struct text text = { 0 };
	int status;

	options_help(&text);
	status = print(text.data);
	text_free(&text);
	return status;
}

static int print_version(void)
{
	struct text text = { 0 };
	int status;

	text_format(&text, "prof " PROF_VERSION "\nengines: hash stackid\n"
		    "unwinders: frame pointers, .eh_frame, .debug_frame\noutputs: %s\n"
		    "libraries:%s\n", out_names, libraries);
	status = print(text.data);
	text_free(&text);
	return status;
}

static int print_check(void)
{
	struct text text = { 0 };
	bool works = check_machine(embedded_object(), &text);
	int status = print(text.data);

	text_free(&text);
	return status || !works;
}

int main(int argc, char **argv)
{
	uint64_t begin = system_now();
	struct options options;
	int status;

	system_guard_descriptors();
	if (options_parse(&options, argc, argv)) {
		status = 2;
	} else if (options.help) {
		status = print_help();
	} else if (options.version) {
		status = print_version();
	} else if (options.check) {
		explain_open(explained(&options));
		status = print_check();
	} else {
		log_open(options.quiet ? LOG_QUIET :
			 options.verbose ? LOG_VERBOSE : LOG_NORMAL);
		explain_open(explained(&options));
		status = options.read || options.old ?
			 profile_recording(&options) :
			 profile_machine(&options, begin);
	}
	options_free(&options);
	return status;
}
