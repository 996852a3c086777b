#!/bin/sh
# Make configure and Makefile.in from their sources.
cd "$(dirname "$0")" && exec autoreconf --install --warnings=all
