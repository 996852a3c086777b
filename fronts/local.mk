# The fronts are built where they are linked: shim/myrmics.mk and others.
