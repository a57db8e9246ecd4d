/** The Helm chart and the container image. */
@NullMarked
package dev.ashlar.it.kubernetes;

import org.jspecify.annotations.NullMarked;
