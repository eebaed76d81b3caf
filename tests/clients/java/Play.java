import java.net.http.HttpRequest;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.openapitools.client.ApiClient;
import org.openapitools.client.ApiException;
import org.openapitools.client.api.BooksApi;
import org.openapitools.client.api.EventsApi;
import org.openapitools.client.api.KnocksApi;
import org.openapitools.client.api.MatchesApi;
import org.openapitools.client.model.Act;
import org.openapitools.client.model.ActDone;
import org.openapitools.client.model.CardPlayed;
import org.openapitools.client.model.DealScored;
import org.openapitools.client.model.Enforcement;
import org.openapitools.client.model.EventSeen;
import org.openapitools.client.model.KnockSent;
import org.openapitools.client.model.Knocked;
import org.openapitools.client.model.OpenMatch;
import org.openapitools.client.model.Player;
import org.openapitools.client.model.Problem;
import org.openapitools.client.model.ProblemType;
import org.openapitools.client.model.RodskaggKortoxenOpenMatch;
import org.openapitools.client.model.RodskaggKortoxenOptions;
import org.openapitools.client.model.SeatGiven;
import org.openapitools.client.model.Verdict;

/**
 * Opens a match through the client that openapi-generator makes for Java. Plays a deal with a knock, follows the match
 * meanwhile until the deal is scored, and reads the protocol: {@code Play <address>}.
 */
public final class Play {
    /** Upper limit of acts in a deal. */
    private static final int ACTS = 500;

    private final List<ApiClient> seats = new ArrayList<>();
    private final List<Integer> cards = new ArrayList<>();
    private final Random random = new Random();
    private final ApiClient spectator;
    private final UUID match;
    private int acts;

    public static void main(String[] arguments) throws Exception {
        var made = new Play(arguments[0]);
        var followed = new CompletableFuture<List<Integer>>();
        var follower = new Thread(() -> made.follow(followed));
        follower.setDaemon(true);
        follower.start();
        made.play();
        check(followed.get(60, TimeUnit.SECONDS).equals(made.cards), "the follower saw other cards than were played");
        var protocol = new BooksApi(made.spectator).getProtocol(made.match, null, null, null);
        var lines = protocol.getLines();
        check(lines.size() == 1 && lines.get(0).getDeal() == 1, "the protocol has no line of the deal");
        System.out.printf("  rodskagg-kortoxen: %d acts, %d cards, 1 knock%n", made.acts, made.cards.size());
    }

    private Play(String address) throws ApiException {
        spectator = client(address, request -> {});
        var opening = new RodskaggKortoxenOpenMatch()
                .ruleset(RodskaggKortoxenOpenMatch.RulesetEnum.RODSKAGG_KORTOXEN)
                .enforcement(Enforcement.ENFORCEMENT_PENALISE)
                .options(new RodskaggKortoxenOptions().dealRitual(false));
        for (var name : List.of("Anna", "Bo", "Cecilia")) {
            opening.addPlayersItem(new Player().name(name));
        }
        var key = UUID.randomUUID().toString();
        var made = new MatchesApi(spectator).openMatch(new OpenMatch(opening), key);
        match = made.getId();
        for (SeatGiven seat : made.getSeats()) {
            var token = "Bearer " + seat.getToken();
            seats.add(client(address, request -> request.header("Authorization", token)));
        }
    }

    private static ApiClient client(String address, Consumer<HttpRequest.Builder> interceptor) {
        var client = new ApiClient().setRequestInterceptor(interceptor);
        client.updateBaseUri(address);
        return client;
    }

    private static void check(boolean holds, String otherwise) {
        if (!holds) {
            throw new AssertionError(otherwise);
        }
    }

    /** Make random legal acts until the deal is scored. */
    private void play() throws Exception {
        while (acts < ACTS) {
            var seen = new MatchesApi(spectator).getMatch(match, null, null, null);
            var done = act(seen.getToAct().get(0), seen.getVersion());
            acts++;
            for (EventSeen event : done.getEvents()) {
                if (event.getEvent().getActualInstance() instanceof CardPlayed) {
                    cards.add(event.getNumber());
                    if (cards.size() == 1) {
                        knock();
                    }
                }
                if (event.getEvent().getActualInstance() instanceof DealScored) {
                    return;
                }
            }
        }
        throw new AssertionError("the deal does not end");
    }

    /** Make a random legal act of a seat, first with a wrong token. */
    private ActDone act(int seat, int version) throws Exception {
        var api = new MatchesApi(seats.get(seat));
        var legal = api.listLegalActs(match, seat, null, null);
        Act act = legal.get(random.nextInt(legal.size()));
        try {
            new MatchesApi(seats.get((seat + 1) % seats.size())).sendAct(match, act, null, null);
            throw new AssertionError("a different seat may act");
        } catch (ApiException refused) {
            var problem = spectator.getObjectMapper().readValue(refused.getResponseBody(), Problem.class);
            check(problem.getType() == ProblemType.PROBLEM_TYPE_PROBLEMS_NOT_YOUR_SEAT, problem.getDetail());
        }
        return api.sendAct(match, act, UUID.randomUUID().toString(), "\"" + version + "\"");
    }

    /** Accuse a player who did nothing wrong. */
    private void knock() throws ApiException {
        var knock = new KnockSent().seat(0).accused(1).offence(Knocked.KNOCKED_REVOKE);
        var ruled = new KnocksApi(seats.get(0)).sendKnock(match, knock, null, null, null);
        check(ruled.getVerdict() == Verdict.VERDICT_DISMISSED, "the knock has the verdict " + ruled.getVerdict());
    }

    /** Wait for events until the deal is scored. Complete with the numbers of those that play a card. */
    private void follow(CompletableFuture<List<Integer>> followed) {
        var seen = new ArrayList<Integer>();
        var api = new EventsApi(spectator);
        try {
            for (var after = 0; !followed.isDone(); ) {
                for (EventSeen event : api.listEvents(match, after, null, null, 25, null, null).getEvents()) {
                    after++;
                    if (event.getEvent().getActualInstance() instanceof CardPlayed) {
                        seen.add(event.getNumber());
                    }
                    if (event.getEvent().getActualInstance() instanceof DealScored) {
                        followed.complete(seen);
                    }
                }
            }
        } catch (ApiException failure) {
            followed.completeExceptionally(failure);
        }
    }
}
