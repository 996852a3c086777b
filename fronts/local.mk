# The API of drasync.h; the other fronts are built where they are linked, see
# shim/myrmics.mk and others.
libdrasync_la_SOURCES += fronts/api.c fronts/api.h fronts/api_ahead.c \
	fronts/api_data.c fronts/api_give.c fronts/api_request.c \
	fronts/api_run.c fronts/api_save.c fronts/fig1.c fronts/managed.c
