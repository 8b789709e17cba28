/* mpi.h, and what Open MPI declares beside it: its extensions (MPIX_Bcast_init). Also read by the
 * C preprocessor alone, for the wrappers that are generated from it. */
#pragma once

#include <mpi.h>
#if defined(OPEN_MPI) && __has_include(<mpi-ext.h>)
#include <mpi-ext.h>
#endif
