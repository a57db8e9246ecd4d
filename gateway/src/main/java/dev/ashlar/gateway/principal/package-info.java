/** Who signs requests: accounts' root users, users and sessions, with the policies that count. */
@NullMarked
package dev.ashlar.gateway.principal;

import org.jspecify.annotations.NullMarked;
