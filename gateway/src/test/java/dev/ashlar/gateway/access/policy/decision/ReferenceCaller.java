package dev.ashlar.gateway.access.policy.decision;

import dev.ashlar.gateway.access.policy.Requester;
import java.util.List;

/**
 * A caller as the reference sees it.
 *
 * @param kind anonymous, service, root, user or session
 * @param account empty if it has none
 * @param names principals that are the caller itself
 * @param accountNames principals that are its account
 */
record ReferenceCaller(
    String kind, Requester value, String account, List<String> names, List<String> accountNames) {}
