/* The contents of messages under --verify and --fresh. */
#ifndef COPYCOST_CONTENTS_H
#define COPYCOST_CONTENTS_H

#include "program/options.h"
#include "strategy.h"

/* Sets stream->contents_change and write_contents as the options say. */
void contents_choose(struct stream *stream, const struct options *options);

#endif
