package dev.ashlar.gateway.website;

import java.util.List;
import org.jspecify.annotations.Nullable;

/** How a bucket is a website. */
public sealed interface Website {
  /** Every request is sent to another host. */
  record Elsewhere(Redirect redirect) implements Website {}

  /**
   * Its objects are the pages.
   *
   * @param indexSuffix name of the page of a folder, without a slash
   * @param errorKey of the page that is shown after errors of the client; null: none
   */
  record Pages(String indexSuffix, @Nullable String errorKey, List<RoutingRule> rules)
      implements Website {
    public Pages {
      rules = List.copyOf(rules);
    }

    /**
     * The first rule that applies; null: none.
     *
     * @param status of the error; 0: there is none yet
     */
    public @Nullable RoutingRule rule(String key, int status) {
      for (RoutingRule rule : rules) {
        if (rule.appliesTo(key, status)) {
          return rule;
        }
      }
      return null;
    }
  }
}
