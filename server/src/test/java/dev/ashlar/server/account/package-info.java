@NullMarked
package dev.ashlar.server.account;

import org.jspecify.annotations.NullMarked;
