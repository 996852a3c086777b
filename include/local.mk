include_HEADERS += include/drasync.h include/myrmics.h
