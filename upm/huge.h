/*
 * huge.h - transparent huge pages of hot areas, for sources that tell pages
 * apart.
 */
#ifndef UPM_HUGE_H
#define UPM_HUGE_H

#include "upm/area.h"

/* Split the huge pages of an area, and make no new ones, if a unit is less than
 * one. */
void upm_huge_split(struct upm_area *area);

/* Where the kernel makes huge pages of everything: let it do so again with those
 * blocks whose pages are on one node, as far as the table knows. */
void upm_huge_join(struct upm_area *area);

#endif /* UPM_HUGE_H */
