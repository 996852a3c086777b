! The paper's Fig. 1 and 2 in small, with the module: run by upm_guest.c on
! several nodes, by upm.bats on one.
program upm_fortran
  use, intrinsic :: iso_fortran_env, only: int32, int64
  use upmlib
  implicit none
  integer, parameter :: n = 512 * 128
  real(8), allocatable :: u(:)
  integer(int64) :: counts(upmlib_stats)
  integer :: i, step, nodes

  allocate (u(n))
  u = 1 ! by one thread
  call upmlib_init()
  call upmlib_set(upmlib_critical, 1000_int32)
  call upmlib_memrefcnt(u, 8_int64 * n)
  do step = 1, 6
    !$omp parallel do schedule(static)
    do i = 1, n
      u(i) = u(i) + 1
    end do
    if (step < 4) then
      call upmlib_migrate_memory()
      cycle
    end if
    if (step == 4) then
      call upmlib_record()
    else
      call upmlib_replay()
    end if
    !$omp parallel do schedule(static)
    do i = 1, n
      u(n + 1 - i) = u(n + 1 - i) + 1
    end do
    if (step == 4) then
      call upmlib_record()
    else
      call upmlib_undo()
    end if
  end do
  call upmlib_get_stats(counts, int(upmlib_stats, int32))
  nodes = int(counts(upmlib_stat_nodes))
  print '(a, i0, a, i0, a, i0, a, i0)', '# nodes ', nodes, ' moved ', &
    counts(upmlib_stat_moved), ' replayed ', counts(upmlib_stat_replayed), &
    ' undone ', counts(upmlib_stat_undone)
  call upmlib_end()
  if (any(u /= 10)) error stop 'the array is not what it should be'
  if (nodes > 1 .and. counts(upmlib_stat_moved) == 0) error stop 'nothing moved'
  if (nodes > 1 .and. counts(upmlib_stat_replayed) == 0) &
    error stop 'nothing was replayed'
  if (counts(upmlib_stat_replayed) /= counts(upmlib_stat_undone)) &
    error stop 'undo is not replay'
end program upm_fortran
