# Where things are installed.

# DRASYNC_CHECK_DIRS
# ------------------
# Refuse directories whose names libtool takes for several, or for shell code:
# make install would stop at the first library, with half of it done.  Call it
# before anything that takes long.  For what is given to make instead (DESTDIR
# above all), Makefile.am looks again.
AC_DEFUN([DRASYNC_CHECK_DIRS], [
for drasync_dir in prefix exec_prefix bindir libdir libexecdir includedir \
        datarootdir datadir mandir docdir; do
    AS_VAR_COPY([drasync_name], [$drasync_dir])
    AS_CASE([$drasync_name],
            [*[[[:space:]\"\'\`\\\@%:@\&]]*],
            [AC_MSG_ERROR(m4_normalize([--$drasync_dir="$drasync_name":
                libtool cannot install into a directory whose name has spaces,
                quotes or one of \\ @%:@ &; choose another (an installation can
                be moved as a whole afterwards: mpicc-drasync finds what lies
                beside it)]))])
done
])
