import com.fasterxml.jackson.core.JsonProcessingException;
import java.security.SecureRandom;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.FutureTask;
import java.util.stream.Stream;
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
import org.openapitools.client.model.Dealing;
import org.openapitools.client.model.Enforcement;
import org.openapitools.client.model.EventSeen;
import org.openapitools.client.model.Knock;
import org.openapitools.client.model.Knocked;
import org.openapitools.client.model.MatchMade;
import org.openapitools.client.model.OpenMatch;
import org.openapitools.client.model.Player;
import org.openapitools.client.model.Problem;
import org.openapitools.client.model.ProblemType;
import org.openapitools.client.model.RodskaggKortoxenOpenMatch;
import org.openapitools.client.model.RodskaggKortoxenOptions;
import org.openapitools.client.model.Verdict;

/**
 * Opens a match through the client that openapi-generator makes for Java. It plays a deal with a knock, follows the
 * match meanwhile until the deal is scored, and reads the protocol: Deal address.
 */
final class Deal {
    private static final int ACTS = 500;
    private static final SecureRandom RANDOM = new SecureRandom();

    private final ApiClient client = new ApiClient();
    private final MatchesApi matches;
    private final UUID match;
    private final List<Map<String, String>> seats;
    private final List<Integer> cards = new ArrayList<>();

    private Deal(String address) throws ApiException {
        client.updateBaseUri(address);
        matches = new MatchesApi(client);
        MatchMade made = matches.openMatch(new OpenMatch(opening()), null);
        match = made.getId();
        seats = made.getSeats().stream().map(seat -> Map.of("Authorization", "Bearer " + seat.getToken())).toList();
    }

    public static void main(String[] arguments) throws Exception {
        Deal table = new Deal(arguments[0]);
        table.openWithoutOfficials();
        FutureTask<List<Integer>> followed = new FutureTask<>(table::follow);
        new Thread(followed).start();
        int acts = table.play();
        expect(followed.get().equals(table.cards), "different cards were played and followed");
        var lines = new BooksApi(table.client).getProtocol(table.match, null, null, null).getLines();
        expect(lines.size() == 1 && lines.get(0).getDeal() == 1, "the protocol has no line of the deal");
        System.out.printf("  rodskagg-kortoxen: %d acts, %d cards, 1 knock%n", acts, table.cards.size());
    }

    private static void expect(boolean right, String wrong) {
        if (!right) {
            throw new IllegalStateException(wrong);
        }
    }

    private static RodskaggKortoxenOpenMatch opening() {
        return new RodskaggKortoxenOpenMatch()
                .ruleset(RodskaggKortoxenOpenMatch.RulesetEnum.RODSKAGG_KORTOXEN)
                .players(Stream.of("Anna", "Bo", "Cecilia").map(name -> new Player().name(name)).toList())
                .enforcement(Enforcement.PENALISE)
                .options(new RodskaggKortoxenOptions().dealRitual(false));
    }

    /** Opens a match at a real table, which has an official if {@code adjudication} is absent, and none if it is null. */
    private void openWithoutOfficials() throws ApiException {
        OpenMatch opening = new OpenMatch(opening().dealing(Dealing.DEALING_TABLE).adjudication(null));
        MatchMade made = matches.openMatch(opening, null);
        expect(made.getAdjudication() == null, "a match opened without officials has some");
    }

    /** Makes random legal acts until the deal is scored. Returns their number; notes the events that play a card. */
    private int play() throws ApiException, JsonProcessingException {
        for (int acts = 1; acts <= ACTS; acts++) {
            for (EventSeen event : act().getEvents()) {
                Object happened = event.getEvent().getActualInstance();
                if (happened instanceof CardPlayed) {
                    cards.add(event.getNumber());
                    if (cards.size() == 1) {
                        knock();
                    }
                }
                if (happened instanceof DealScored) {
                    return acts;
                }
            }
        }
        throw new IllegalStateException("the deal does not end");
    }

    /** Makes a random legal act of a seat, first with a wrong token. */
    private ActDone act() throws ApiException, JsonProcessingException {
        var seen = matches.getMatch(match, null, null, null);
        int seat = seen.getToAct().get(0);
        List<Act> legal = matches.listLegalActs(match, seat, null, null, seats.get(seat));
        Act act = legal.get(RANDOM.nextInt(legal.size()));
        try {
            matches.sendAct(match, act, null, null, seats.get((seat + 1) % seats.size()));
            throw new IllegalStateException("a different seat may act");
        } catch (ApiException refused) {
            Problem problem = client.getObjectMapper().readValue(refused.getResponseBody(), Problem.class);
            expect(refused.getCode() == 403, "a different seat is not refused: " + refused.getMessage());
            expect(problem.getType() == ProblemType._PROBLEMS_NOT_YOUR_SEAT, "a different problem: " + problem);
        }
        String version = "\"" + seen.getVersion() + "\"";
        return matches.sendAct(match, act, UUID.randomUUID().toString(), version, seats.get(seat));
    }

    /** Accuses a player who did nothing wrong. */
    private void knock() throws ApiException {
        Knock knock = new Knock().seat(0).accused(1).offence(Knocked.KNOCKED_REVOKE);
        var ruled = new KnocksApi(client).sendKnock(match, knock, null, null, null, seats.get(0));
        expect(ruled.getVerdict() == Verdict.VERDICT_DISMISSED, "the knock has the verdict " + ruled.getVerdict());
    }

    /** Waits for events until the deal is scored. Returns the numbers of those that play a card. */
    private List<Integer> follow() throws ApiException {
        List<Integer> played = new ArrayList<>();
        EventsApi events = new EventsApi(client);
        for (int after = 0; ; ) {
            List<EventSeen> page = events.listEvents(match, after, null, null, 25, null, null).getEvents();
            expect(!page.isEmpty(), "no event in 25 seconds");
            for (EventSeen event : page) {
                after = event.getNumber();
                Object happened = event.getEvent().getActualInstance();
                if (happened instanceof CardPlayed) {
                    played.add(event.getNumber());
                }
                if (happened instanceof DealScored) {
                    return played;
                }
            }
        }
    }
}
