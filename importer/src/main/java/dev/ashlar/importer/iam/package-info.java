/** Users, groups, policies and access keys from an export of MinIO's administration. */
@NullMarked
package dev.ashlar.importer.iam;

import org.jspecify.annotations.NullMarked;
