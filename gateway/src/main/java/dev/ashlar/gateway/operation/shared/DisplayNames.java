package dev.ashlar.gateway.operation.shared;

import dev.ashlar.gateway.access.Caller;
import dev.ashlar.protocol.client.MetadataUnavailableException;
import dev.ashlar.protocol.message.AccountQuery;
import java.util.HashMap;
import java.util.Map;

/** The names of accounts, for one answer. Looks up each account other than the caller's once. */
public final class DisplayNames {
  private final Backend backend;
  private final Map<String, String> known = new HashMap<>();

  public DisplayNames(Backend backend, Caller caller) {
    this.backend = backend;
    if (caller.principal() != null) {
      String name = caller.principal().account().getName();
      known.put(caller.canonicalId(), name.isEmpty() ? first() : name);
    }
  }

  /** Of the account of the server's own credential, which need not be stored. */
  private String first() {
    return backend.config().ownerDisplayName();
  }

  public String of(String canonicalId) throws MetadataUnavailableException {
    String name = known.get(canonicalId);
    if (name == null) {
      name =
          backend
              .metadata()
              .account(AccountQuery.newBuilder().setCanonicalId(canonicalId).build())
              .map(account -> account.getAccount().getName())
              .orElse(canonicalId.equals(Caller.ANONYMOUS_ID) ? "anonymous" : first());
      known.put(canonicalId, name);
    }
    return name;
  }
}
