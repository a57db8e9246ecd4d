/** Uploads by HTML form: the body of the request is decoded while it arrives. */
@NullMarked
package dev.ashlar.gateway.form;

import org.jspecify.annotations.NullMarked;
