/* The command line, the input, and the last line: see program.h. */
#include "program.h"

#include <getopt.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../common/csv.h"
#include "../common/report.h"

/* Gauss's constant squared: AU, days and solar masses. */
#define GRAVITY_SOLAR (0.01720209895 * 0.01720209895)

#define BODIES_MAX UINT64_C(1000000000)
#define STEPS_MAX  UINT64_C(1000000000)
#define PARTS_MAX  65536

/* Steps between two saves, by default. */
#define SAVE_STEPS 10

/* Of the help text. */
#define USAGE_BYTES 4096

/* Forces are compared on about this many bodies. */
#define SAMPLES 1000

/* Up to so many bodies, --verify takes the energy from all pairs. */
#define PAIRS_BODIES_MAX 20000

/* The largest force_error that --verify lets pass. */
#define FORCE_ERROR_MAX 0.01

/* The options of all forms. */
static const char usage_options[] =
    "Usage: mpirun -n WORKERS %s [OPTION]... FILE\n"
    "       mpirun -n WORKERS %s [OPTION]... --plummer N\n"
    "\n"
    "Barnes-Hut N-body simulation in three dimensions, by any number of "
    "workers.\n"
    "FILE is a CSV of mass,x,y,z,vx,vy,vz in solar masses, AU and AU/day.\n"
    "\n"
    "  --plummer N    a Plummer sphere of N bodies (G = M = 1, E = -1/4) "
    "instead\n"
    "                 of a file\n"
    "  --seed S       which one (default 1)\n"
    "  --steps K      leapfrog steps (default 20)\n"
    "  --dt T         length of a step (default 1 day; 0.01 with --plummer)\n"
    "  --theta A      opening angle, 0 to 1 (default 0.5)\n"
    "  --softening E  of the forces (default 0; 0.05 with --plummer)\n"
    "  --verify       compare with direct summation\n";

/* The options of the form that saves. */
static const char usage_saving[] =
    "  --save FILE    save the simulation to FILE now and then; if FILE is "
    "there,\n"
    "                 go on from it, with the same answer, on any number of "
    "workers\n"
    "  --save-steps K every so many steps, and at both ends (default 10)\n"
    "  --parts P      the bodies in P parts, which more than P workers cannot "
    "share;\n"
    "                 the answer is that of P workers (default: as FILE has, "
    "or as\n"
    "                 many as there are workers)\n";

static const char usage_result[] =
    "  --help         this text\n"
    "  --version      the version\n"
    "\n"
    "The last line on standard output is\n"
    "  barnes_hut bodies=N steps=K energy_drift=E force_error=F hash=X "
    "seconds=S\n"
    "  workers=W\n"
    "on one line.  E is the change of the total energy over all steps as a\n"
    "fraction of it; with --verify and at most 20,000 bodies from all pairs, "
    "else\n"
    "from the trees.  F is with --verify, over about 1,000 bodies at the end, "
    "the\n"
    "root of the mean square of |a - d| / |d|, where a is the acceleration "
    "from the\n"
    "trees and d that from all other bodies; else \"unchecked\".  X depends on "
    "the\n"
    "final positions and velocities alone, whose last digits depend on W.  S "
    "is "
    "the\n"
    "time of the steps, without input and verification.\n"
    "\n"
    "Exit status: 0; 1 if --verify finds F over 0.01; 2 if the command line, "
    "the\n"
    "input or a saved file is wrong.\n";

/* --- Command line -------------------------------------------------------- */

/* One option; NULL, or what its value should have been. */
static const char *take_option(struct program *program, int option,
                               const char *text)
{
    switch (option) {
    case 'c':
        program->verify = 1;
        return NULL;
    case 'S':
        program->save = text;
        return *text ? NULL : "no name of a file to save to";
    case 'K':
        return report_parse_u64(text, 1, STEPS_MAX, &program->save_steps)
                   ? "not a number of steps between saves: "
                   : NULL;
    case 'P':
        return report_parse_u64(text, 1, PARTS_MAX, &program->parts)
                   ? "not a number of parts from 1 to 65536: "
                   : NULL;
    case 'p':
        return report_parse_u64(text, 1, BODIES_MAX, &program->plummer)
                   ? "not a number of bodies: "
                   : NULL;
    case 's':
        return report_parse_u64(text, 0, UINT64_MAX, &program->seed)
                   ? "not a seed: "
                   : NULL;
    case 'k':
        return report_parse_u64(text, 0, STEPS_MAX, &program->steps)
                   ? "not a number of steps: "
                   : NULL;
    case 't':
        return report_parse_double(text, 0, 1, &program->theta)
                   ? "not an opening angle from 0 to 1: "
                   : NULL;
    case 'e':
        return report_parse_double(text, 0, 1e100, &program->gravity.softening)
                   ? "not a softening length: "
                   : NULL;
    default:
        return report_parse_double(text, -1e100, 1e100, &program->dt)
                   ? "not a length of a step: "
                   : NULL;
    }
}

/* What a command line without options means. */
static void set_defaults(struct program *program, const char *name)
{
    memset(program, 0, sizeof *program);
    program->name = name;
    program->seed = 1;
    program->steps = 20;
    program->save_steps = SAVE_STEPS;
    program->theta = 0.5;
    program->dt = program->gravity.softening = NAN;
}

/* What is not given, and depends on where the bodies come from. */
static void set_units(struct program *program)
{
    if (isnan(program->dt))
        program->dt = program->plummer ? 0.01 : 1;
    if (isnan(program->gravity.softening))
        program->gravity.softening = program->plummer ? 0.05 : 0;
    program->gravity.constant = program->plummer ? 1 : GRAVITY_SOLAR;
}

static int print_help(const struct program *program, int saves)
{
    char usage[USAGE_BYTES];

    snprintf(usage, sizeof usage, "%s%s%s", usage_options,
             saves ? usage_saving : "", usage_result);
    return report_help(program->name, usage);
}

int program_options(struct program *program, const char *name, int saves,
                    int argc, char **argv)
{
    static const struct option options[] = {
        {"save", required_argument, NULL, 'S'},
        {"save-steps", required_argument, NULL, 'K'},
        {"parts", required_argument, NULL, 'P'},
        /* Those of all forms. */
        {"plummer", required_argument, NULL, 'p'},
        {"seed", required_argument, NULL, 's'},
        {"steps", required_argument, NULL, 'k'},
        {"theta", required_argument, NULL, 't'},
        {"softening", required_argument, NULL, 'e'},
        {"dt", required_argument, NULL, 'd'},
        {"verify", no_argument, NULL, 'c'},
        {"help", no_argument, NULL, 'h'},
        {"version", no_argument, NULL, 'V'},
        {NULL, 0, NULL, 0},
    };
    const char *wrong;
    int option;

    set_defaults(program, name);
    opterr = 0;
    while ((option = getopt_long(argc, argv, "", saves ? options : options + 3,
                                 NULL)) != -1) {
        if (option == '?')
            return report_usage_error(
                program->name,
                "not an option, or without its value: ", argv[optind - 1]);
        if (option == 'h')
            return print_help(program, saves);
        if (option == 'V')
            return report_help(program->name, NULL);
        wrong = take_option(program, option, optarg);
        if (wrong)
            return report_usage_error(program->name, wrong, optarg);
    }
    if (optind < argc)
        program->path = argv[optind++];
    if (optind < argc)
        return report_usage_error(program->name,
                                  "more than one file: ", argv[optind]);
    if (program->plummer && program->path)
        return report_usage_error(program->name,
                                  "both --plummer and a file: ", program->path);
    if (!program->plummer && !program->path)
        return report_usage_error(program->name, "no file and no --plummer",
                                  "");
    set_units(program);
    return -1;
}

/* --- Input and result ---------------------------------------------------- */

int program_input(const struct program *program, struct body **bodies_out,
                  size_t *count_out)
{
    char error[CSV_ERROR_BYTES];

    if (!program->path) {
        *count_out = program->plummer;
        *bodies_out = report_malloc(program->plummer * sizeof **bodies_out);
        bodies_plummer(program->plummer, program->seed, *bodies_out);
        return 0;
    }
    if (bodies_read(program->path, bodies_out, count_out, error,
                    sizeof error) == 0)
        return 0;
    fprintf(stderr, "%s: %s\n", program->name, error);
    return EXIT_INPUT;
}

struct sums program_sums(const struct program *program,
                         const struct body *bodies, size_t count,
                         const struct body *const *all, size_t all_count,
                         int final)
{
    size_t stride = all_count > SAMPLES ? all_count / SAMPLES : 1;

    if (!program->verify)
        return forces_energy(bodies, count);
    return forces_verify(bodies, count, all, all_count, &program->gravity,
                         final ? stride : 0, all_count <= PAIRS_BODIES_MAX);
}

int program_result(const struct program *program, int workers, size_t count,
                   const struct sums *before, const struct sums *after,
                   uint64_t hash, double seconds)
{
    double start = before->kinetic + before->potential;
    double drift = after->kinetic + after->potential - start;
    double error = 0;
    char text[32] = "unchecked";

    if (start != 0)
        drift /= start;
    if (program->verify) {
        if (after->samples)
            error = sqrt(after->error_squared / (double)after->samples);
        snprintf(text, sizeof text, "%.3e", error);
    }
    printf("barnes_hut bodies=%zu steps=%" PRIu64
           " energy_drift=%.3e force_error=%s hash=%016" PRIx64
           " seconds=%.3f workers=%d\n",
           count, program->steps, fabs(drift), text, hash, seconds, workers);
    fflush(stdout);
    if (!(error <= FORCE_ERROR_MAX)) {
        fprintf(stderr, "%s: the force error is over %g\n", program->name,
                FORCE_ERROR_MAX);
        return EXIT_VERIFY;
    }
    return 0;
}
