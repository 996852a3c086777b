! UPMlib for Fortran: upmlib.h has what the calls do.  Compile it with the
! program; then "use upmlib".  Without it the calls of the paper's figures work
! too, with sizes that are default integers.
module upmlib
  use, intrinsic :: iso_c_binding, only: int32 => c_int32_t, int64 => c_int64_t
  implicit none
  private :: int32, int64

  integer(int32), parameter :: upmlib_threshold = 0, upmlib_critical = 1, &
    upmlib_freeze = 2, upmlib_source = 3, upmlib_batch = 4
  integer(int32), parameter :: upmlib_source_protect = 0, &
    upmlib_source_userfaultfd = 1, upmlib_source_perf = 2, &
    upmlib_source_file = 3, upmlib_source_none = 4

  ! Places in what upmlib_get_stats gives.
  integer, parameter :: upmlib_stat_nodes = 1, upmlib_stat_areas = 2, &
    upmlib_stat_pages = 3, upmlib_stat_iterations = 4, &
    upmlib_stat_counted = 5, upmlib_stat_moved = 6, upmlib_stat_stayed = 7, &
    upmlib_stat_frozen = 8, upmlib_stat_replayed = 9, &
    upmlib_stat_undone = 10, upmlib_stat_sampled = 11, &
    upmlib_stat_counting = 12, upmlib_stat_off = 13, upmlib_stats = 13

  interface
    subroutine upmlib_init() bind(c, name='upmlib_init_')
    end subroutine
    subroutine upmlib_migrate_memory() bind(c, name='upmlib_migrate_memory_')
    end subroutine
    subroutine upmlib_record() bind(c, name='upmlib_record_')
    end subroutine
    subroutine upmlib_replay() bind(c, name='upmlib_replay_')
    end subroutine
    subroutine upmlib_undo() bind(c, name='upmlib_undo_')
    end subroutine
    subroutine upmlib_sample(interval_ms) bind(c, name='upmlib_sample_')
      import :: int32
      integer(int32), intent(in) :: interval_ms
    end subroutine
    subroutine upmlib_set(option, value) bind(c, name='upmlib_set_')
      import :: int32
      integer(int32), intent(in) :: option, value
    end subroutine
    subroutine upmlib_get_stats(counts, room) bind(c, name='upmlib_get_stats_')
      import :: int32, int64
      integer(int32), intent(in) :: room
      integer(int64), intent(out) :: counts(room)
    end subroutine
    subroutine upmlib_end() bind(c, name='upmlib_end_')
    end subroutine
  end interface

  ! The size in bytes, of either kind of integer.
  interface upmlib_memrefcnt
    subroutine upmlib_memrefcnt_int32(array, bytes) &
        bind(c, name='upmlib_memrefcnt_')
      import :: int32
      type(*), intent(in) :: array(*)
      integer(int32), intent(in) :: bytes
    end subroutine
    subroutine upmlib_memrefcnt_int64(array, bytes) &
        bind(c, name='upmlib_memrefcnt8_')
      import :: int64
      type(*), intent(in) :: array(*)
      integer(int64), intent(in) :: bytes
    end subroutine
  end interface
end module upmlib
