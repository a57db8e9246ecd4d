/** What features cost that are in use: versions, policies, many keys. */
@NullMarked
package dev.ashlar.bench.features;

import org.jspecify.annotations.NullMarked;
