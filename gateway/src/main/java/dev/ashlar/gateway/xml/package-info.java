/** Reading and writing of S3's XML documents. */
@NullMarked
package dev.ashlar.gateway.xml;

import org.jspecify.annotations.NullMarked;
