/** Accounts as an operator creates, lists and deletes them. */
@NullMarked
package dev.ashlar.server.account;

import org.jspecify.annotations.NullMarked;
