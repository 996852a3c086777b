drasyncdata_DATA += data/cities.csv data/solar-system.csv
EXTRA_DIST += $(drasyncdata_DATA) data/README.md
