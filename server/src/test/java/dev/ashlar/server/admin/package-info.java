@NullMarked
package dev.ashlar.server.admin;

import org.jspecify.annotations.NullMarked;
