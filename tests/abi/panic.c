// SPDX-License-Identifier: MIT OR GPL-2.0-only
/*
 * Instrumented code keeps branches that optimised code has not, panics among them: the library's
 * hook needs a body there. A run that gets here has found a bug.
 */
#include <stdio.h>
#include <stdlib.h>

_Noreturn void lnd_panic_is_unreachable(void)
{
	fprintf(stderr, "the library has panicked\n");
	abort();
}
