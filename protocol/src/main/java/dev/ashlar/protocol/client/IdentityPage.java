package dev.ashlar.protocol.client;

import dev.ashlar.protocol.message.IdentityRow;
import java.util.List;

/**
 * A page of a list of identities.
 *
 * @param truncated whether there are more behind the last one
 */
public record IdentityPage(List<IdentityRow> identities, boolean truncated) {
  public IdentityPage {
    identities = List.copyOf(identities);
  }
}
