/* The loop of probes/allreduce.py in C: same sizes, warm-up, batches and budget, so that the ratio shows Python's part.

   allreduce MAX_BYTES BUDGET_SECONDS
   Rank 0 prints for each size: bytes, then the median over batches of the mean time of one call in microseconds. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SMALLEST = 8, BATCHES = 5, MOST_ITERATIONS = 5000 };

static double loop(float *data, int count, int iterations) {
  double started = MPI_Wtime();
  for (int i = 0; i < iterations; i++)
    MPI_Allreduce(MPI_IN_PLACE, data, count, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
  return (MPI_Wtime() - started) / iterations;
}

static double over_ranks(double value, MPI_Op op) {
  double result;
  MPI_Allreduce(&value, &result, 1, MPI_DOUBLE, op, MPI_COMM_WORLD);
  return result;
}

static int rising(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

static double measure(size_t size, double budget, int ranks) {
  float *data;
  if (posix_memalign((void **)&data, 4096, size)) MPI_Abort(MPI_COMM_WORLD, 1);
  memset(data, 0, size);
  int count = (int)(size / 4), warm = 1, calls = 1;
  double warm_seconds = budget / 4 < 0.05 ? budget / 4 : 0.05, each, times[BATCHES];
  MPI_Barrier(MPI_COMM_WORLD);
  for (;; calls *= 4) {
    each = over_ranks(loop(data, count, calls), MPI_MAX);
    if (each < 1e-9) each = 1e-9;
    warm += calls;
    if (calls * each >= warm_seconds / 2 || warm >= 1000) break;
  }
  double left = budget - each * warm, wanted = left > 0 ? left / each : 0;
  int iterations = wanted > MOST_ITERATIONS ? MOST_ITERATIONS : wanted < 3 ? 3 : (int)wanted;
  int batches = iterations < BATCHES ? iterations : BATCHES, batch = iterations / batches;
  for (int i = 0; i < batches; i++) {
    MPI_Barrier(MPI_COMM_WORLD);
    times[i] = over_ranks(loop(data, count, batch), MPI_SUM) / ranks;
  }
  qsort(times, batches, sizeof *times, rising);
  free(data);
  return batches % 2 ? times[batches / 2] : (times[batches / 2 - 1] + times[batches / 2]) / 2;
}

int main(int argc, char **argv) {
  if (argc != 3) return 2;
  size_t most = strtoull(argv[1], NULL, 10), size = SMALLEST;
  double budget = atof(argv[2]);
  int ranks, rank, todo = 1;
  MPI_Init(&argc, &argv);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  for (size_t s = SMALLEST; s < most; s *= 4) todo++;
  double until = MPI_Wtime() + budget;
  for (; todo > 0; todo--, size *= 4) {
    if (todo == 1) size = most;
    double left = until - MPI_Wtime();
    double each = measure(size, over_ranks(left > 0 ? left : 0, MPI_MAX) / todo, ranks);
    if (rank == 0) printf("%zu %.4f\n", size, each * 1e6);
  }
  MPI_Finalize();
  return 0;
}
