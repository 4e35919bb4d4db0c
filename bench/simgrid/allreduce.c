/* One MPI_Allreduce of as many bytes as the first argument says; prints the simulated seconds of the slowest rank.
 *
 * For smpirun: the buffers of all ranks are one, since nobody looks at the sums.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char** argv)
{
  if (argc != 2)
    return 1;
  MPI_Init(&argc, &argv);
  size_t bytes = strtoull(argv[1], NULL, 10);
  float* send = SMPI_SHARED_MALLOC(bytes);
  float* receive = SMPI_SHARED_MALLOC(bytes);

  double begin = MPI_Wtime();
  MPI_Allreduce(send, receive, bytes / sizeof(float), MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
  double took = MPI_Wtime() - begin;

  double longest;
  int rank;
  MPI_Reduce(&took, &longest, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank == 0)
    printf("%.15g\n", longest);
  SMPI_SHARED_FREE(send);
  SMPI_SHARED_FREE(receive);
  MPI_Finalize();
  return 0;
}
