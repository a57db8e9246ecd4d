/** The management API: health, views of the store, and changes to drives and metadata peers. */
@NullMarked
package dev.ashlar.server.admin;

import org.jspecify.annotations.NullMarked;
