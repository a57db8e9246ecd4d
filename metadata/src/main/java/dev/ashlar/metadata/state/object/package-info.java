/** Commands and listings of buckets, objects and multipart uploads. */
@NullMarked
package dev.ashlar.metadata.state.object;

import org.jspecify.annotations.NullMarked;
