/*
 * place.h - placements to compare with: where the pages of a new hot area go.
 */
#ifndef UPM_PLACE_H
#define UPM_PLACE_H

#include "upm/area.h"
#include "upm/options.h"

/*
 * The node of page number @page of all pages that are placed, of @nodes.  The
 * same for the same number in each run; not for UPM_PLACE_FIRST.
 */
int16_t upm_place_of(enum upm_place place, uint64_t page, unsigned nodes);

/*
 * Give the area's pages frames and move them to where @place says; @numbered
 * counts the pages of areas before it, and then of this one too.  Pages that do
 * not move stay.  0 or a negative errno.
 */
int upm_place_area(struct upm_area *area, enum upm_place place, size_t batch,
                   uint64_t *numbered);

#endif /* UPM_PLACE_H */
