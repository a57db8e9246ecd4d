@NullMarked
package dev.ashlar.server.config;

import org.jspecify.annotations.NullMarked;
