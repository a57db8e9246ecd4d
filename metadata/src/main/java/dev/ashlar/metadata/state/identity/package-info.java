/** Accounts, identities (users, groups, roles, policies, OIDC providers) and access keys. */
@NullMarked
package dev.ashlar.metadata.state.identity;

import org.jspecify.annotations.NullMarked;
