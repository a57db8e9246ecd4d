@NullMarked
package dev.ashlar.server.cli.imports;

import org.jspecify.annotations.NullMarked;
