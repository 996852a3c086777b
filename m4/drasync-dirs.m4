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

# DRASYNC_LIB_FROM
# ----------------
# LIB_FROM_BIN and LIB_FROM_LIBEXEC: how one comes from where programs are
# installed to the libraries, so that they find them in a tree that was moved.
AC_DEFUN([DRASYNC_LIB_FROM], [
drasync_from=`AS_IF([test "$prefix" = NONE], [prefix=$ac_default_prefix])
    AS_IF([test "$exec_prefix" = NONE], [exec_prefix=$prefix])
    eval "bin=$bindir lib=$libdir libexec=$libexecdir"
    eval "bin=$bin lib=$lib libexec=$libexec"
    realpath -m --relative-to="$bin" "$lib"
    realpath -m --relative-to="$libexec/drasync" "$lib"`
LIB_FROM_BIN=`AS_ECHO(["$drasync_from"]) | sed -n 1p`
LIB_FROM_LIBEXEC=`AS_ECHO(["$drasync_from"]) | sed -n 2p`
AC_SUBST([LIB_FROM_BIN])
AC_SUBST([LIB_FROM_LIBEXEC])
])
