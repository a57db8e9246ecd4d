@NullMarked
package dev.ashlar.server.cli.admin;

import org.jspecify.annotations.NullMarked;
