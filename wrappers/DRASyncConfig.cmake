# find_package(DRASync) in CMake:
#
#   DRASync::drasync  programs with drasync.h
#   DRASync::myrmics  programs with the Myrmics calls (sys_*), and the same
#   DRASync::dart     programs with DART: <dash/dart/if/dart.h>
#
# It finds the headers and libraries from where it lies, so that the installation
# may be moved.  MPI comes from the program's own find_package(MPI), before or
# after: CMake keeps libraries in the order in which they are named, but MPI_Init
# must be found in ours first.  So ours stand among the options, too, which come
# before all libraries; and are kept by linkers that drop what no symbol refers
# to.  Executables name the target themselves; for one that only links a library
# that does, the order is its own.
if(CMAKE_VERSION VERSION_LESS 3.13)
  set(DRASync_FOUND FALSE)
  set(DRASync_NOT_FOUND_MESSAGE
    "DRASync needs CMake 3.13 or later, or mpicc-drasync as the compiler")
  return()
endif()

get_filename_component(_drasync_libdir "${CMAKE_CURRENT_LIST_DIR}/../.." ABSOLUTE)
# Not that of another installation, which was found in this folder before.
unset(DRASync_INCLUDE_DIR CACHE)
find_path(DRASync_INCLUDE_DIR drasync.h
  PATHS "${_drasync_libdir}/../include" "${_drasync_libdir}/../../include"
  NO_DEFAULT_PATH)
mark_as_advanced(DRASync_INCLUDE_DIR)
if(NOT DRASync_INCLUDE_DIR)
  set(DRASync_FOUND FALSE)
  set(DRASync_NOT_FOUND_MESSAGE "no drasync.h beside ${_drasync_libdir}")
  return()
endif()

# _drasync_target(NAME LIBRARY [TARGET]): with what TARGET needs after it.
function(_drasync_target name library)
  if(TARGET DRASync::${name})
    return()
  endif()
  add_library(DRASync::${name} SHARED IMPORTED)
  set_target_properties(DRASync::${name} PROPERTIES
    IMPORTED_LOCATION "${_drasync_libdir}/${library}"
    INTERFACE_INCLUDE_DIRECTORIES "${DRASync_INCLUDE_DIR}"
    INTERFACE_LINK_OPTIONS
      "LINKER:--push-state,--no-as-needed,${_drasync_libdir}/${library},--pop-state"
    INTERFACE_LINK_LIBRARIES "${ARGN}")
endfunction()

_drasync_target(drasync libdrasync.so)
_drasync_target(myrmics libdrasync_shim.so DRASync::drasync)
_drasync_target(dart libdart-mpi.so DRASync::drasync)
