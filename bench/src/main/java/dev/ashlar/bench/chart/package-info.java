/** Charts as PNG and SVG, and pages that hold them. */
@NullMarked
package dev.ashlar.bench.chart;

import org.jspecify.annotations.NullMarked;
