/** Whether the store serves, for load balancers and scripts that know nothing of S3. */
@NullMarked
package dev.ashlar.gateway.health;

import org.jspecify.annotations.NullMarked;
