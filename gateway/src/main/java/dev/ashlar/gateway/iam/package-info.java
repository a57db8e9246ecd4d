/** The actions of IAM: users, access keys, groups, roles and policies of the caller's account. */
@NullMarked
package dev.ashlar.gateway.iam;

import org.jspecify.annotations.NullMarked;
