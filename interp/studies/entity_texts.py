"""The words of the study of entities: two-word entities, ordinary pairs, and sentences for them.

No word stands twice in `ENTITIES` and `ORDINARY_PAIRS` together, so that every pair is an
observation of its own.
"""

from collections.abc import Sequence

from interp.analyses.word_pairs import Carrier, WordPair


def _pairs(listed: str) -> tuple[WordPair, ...]:
    return tuple(WordPair(*pair.split()) for pair in listed.split(","))


CARRIERS: Sequence[Carrier] = (
    Carrier("The article was about ", "."),
    Carrier("Many people have heard of ", "."),
    Carrier("Last year somebody wrote a book on ", "."),
    Carrier("In the end they talked about ", "."),
    Carrier("There is a famous photograph of ", "."),
)
"""Sentences into which any of the pairs fits."""

PLACES = _pairs("""
    New York, Los Angeles, San Francisco, Hong Kong, Las Vegas, Buenos Aires, Sri Lanka,
    Costa Rica, South Africa, North Korea, Saudi Arabia, Soviet Union, Great Britain,
    Cape Town, Kuala Lumpur, Addis Ababa, Tel Aviv, Abu Dhabi, Santa Fe, Mount Everest,
    Lake Michigan, Sierra Leone, Burkina Faso, West Virginia, Rhode Island, Nova Scotia,
    Baton Rouge, Des Moines, Monte Carlo, Notre Dame, Pearl Harbor, Niagara Falls,
    Grand Canyon, Silicon Valley, Middle East, Persian Gulf, Black Sea, Pacific Ocean,
    Suez Canal, English Channel, Long Beach, Palm Springs, Central Park, Times Square,
    Wall Street, Abbey Road, Buckingham Palace, Eiffel Tower, Brooklyn Bridge, Vatican City,
    Czech Republic, Ivory Coast, Gaza Strip, Phnom Penh, Ulan Bator, Sahara Desert,
    Amazon River, Rocky Mountains, Appalachian Trail, Sinai Peninsula
""")

PEOPLE = _pairs("""
    Albert Einstein, Isaac Newton, Charles Darwin, William Shakespeare, Napoleon Bonaparte,
    Julius Caesar, Karl Marx, Adolf Hitler, Joseph Stalin, Vladimir Putin, Winston Churchill,
    Abraham Lincoln, George Washington, Thomas Jefferson, Benjamin Franklin, Barack Obama,
    Donald Trump, Ronald Reagan, Margaret Thatcher, Nelson Mandela, Mahatma Gandhi,
    Marie Curie, Galileo Galilei, Nikola Tesla, Sigmund Freud, Immanuel Kant,
    Friedrich Nietzsche, Bertrand Russell, Pablo Picasso, Michael Jackson, Elvis Presley,
    Bob Dylan, David Bowie, John Lennon, Paul McCartney, Freddie Mercury, Stephen Hawking,
    Alfred Hitchcock, Steven Spielberg, Stanley Kubrick, Walt Disney, Charlie Chaplin,
    Clint Eastwood, Tom Cruise, Marlon Brando, Marilyn Monroe, Audrey Hepburn,
    Agatha Christie, Jane Austen, Oscar Wilde, Mark Twain, Ernest Hemingway, Leo Tolstoy,
    Franz Kafka, James Joyce, Victor Hugo, Emily Dickinson, Dante Alighieri,
    Christopher Columbus, Marco Polo, Neil Armstrong, Yuri Gagarin, Henry Ford, Bill Gates,
    Steve Jobs, Alan Turing, Fidel Castro, Angela Merkel, Tony Blair, Hillary Clinton,
    Saddam Hussein, Mike Tyson, Diego Maradona, Lionel Messi, Roger Federer, Usain Bolt,
    Frank Sinatra, Kurt Cobain, Louis Pasteur, Max Planck, Niels Bohr, Werner Heisenberg,
    Gregor Mendel, Florence Nightingale, Bruce Lee, Jackie Chan, Mao Zedong, Genghis Khan
""")

INSTITUTIONS_AND_TITLES = _pairs("""
    European Commission, United Nations, World Bank, Supreme Court, White House, Red Cross,
    Royal Navy, Harvard University, Real Madrid, Premier League, Labour Party, Nobel Prize,
    Olympic Games, Super Bowl, Rolling Stones, Pink Floyd, Led Zeppelin, Deep Purple,
    Iron Maiden, Star Wars, Harry Potter, Sherlock Holmes, Mickey Mouse, Peter Pan,
    Don Quixote, Robin Hood, Doctor Who, Moby Dick, Blade Runner, Toy Story, Citizen Kane,
    Pulp Fiction, Mona Lisa, Sistine Chapel, Magna Carta, Roman Empire, Cold War,
    Industrial Revolution, Big Ben, General Motors, Aston Martin, Air France, Alfa Romeo,
    Warner Brothers, Formula One, Milky Way, Alpha Centauri, Old Testament, Jesus Christ,
    Pope Benedict, Queen Victoria, Dalai Lama
""")

ENTITIES: Sequence[WordPair] = PLACES + PEOPLE + INSTITUTIONS_AND_TITLES
"""Two-word names of one thing each."""

ORDINARY_PAIRS: Sequence[WordPair] = _pairs("""
    French wine, German cars, Italian food, Spanish speakers, Portuguese sailors,
    Dutch painters, Danish farmers, Swedish steel, Norwegian ships, Finnish lakes,
    Polish workers, Hungarian music, Russian troops, Ukrainian wheat, Turkish carpets,
    Greek letters, Bulgarian roses, Romanian villages, Serbian forces, Croatian beaches,
    Albanian families, Swiss watches, Austrian composers, Belgian chocolate, Irish songs,
    Scottish clans, Welsh miners, British government, American citizens, Canadian winters,
    Mexican silver, Cuban cigars, Brazilian coffee, Argentine beef, Chilean copper,
    Peruvian gold, Bolivian tin, Colombian emeralds, Japanese gardens, Chinese characters,
    Korean dramas, Vietnamese soldiers, Thai kitchens, Indian elephants, Pakistani doctors,
    Iranian oil, Iraqi prisoners, Syrian refugees, Lebanese cedars, Israeli scientists,
    Egyptian cotton, Moroccan leather, Algerian dates, Nigerian writers, Kenyan runners,
    Ethiopian churches, African rivers, Asian markets, Australian sheep, Arab merchants,
    Jewish holidays, Muslim scholars, Christian missionaries, Buddhist monks, Hindu temples,
    Catholic priests, Protestant ministers, Latin verbs, Sanskrit texts, Hebrew poems,
    Celtic myths, Viking raids, Norman castles, Saxon kings, Gothic arches, Baroque organs,
    Victorian houses, Byzantine mosaics, Mongol horses, Aztec pyramids, Inca roads,
    Maya calendars, Nordic countries, Baltic ports, Alpine meadows, Arctic ice,
    Antarctic penguins, Mediterranean climate, Caribbean islands, Atlantic storms,
    Siberian tigers, Bavarian beer, Tuscan hills, Sicilian lemons, Parisian fashion,
    Venetian glass, Florentine artists, Viennese waltzes, Texan ranchers,
    Californian grapes, Hawaiian volcanoes, Scandinavian furniture, Himalayan peaks,
    Tibetan nomads, Andean potatoes, Balkan politics, Iberian pigs, Monday morning,
    Tuesday afternoon, Wednesday evening, Thursday night, Friday prayers,
    Saturday newspapers, Sunday lunch, January snow, February frost, March winds,
    April showers, May flowers, June weddings, July heat, August holiday,
    September rain, October leaves, November fog, December darkness, Christmas dinner,
    Easter eggs, Halloween costumes, Thanksgiving turkey, Ramadan meals, London taxis,
    Paris cafes, Berlin clubs, Moscow subway, Tokyo trains, Beijing traffic,
    Shanghai towers, Rome museums, Athens weather, Vienna concerts, Prague hotels,
    Warsaw factories, Budapest baths, Dublin pubs, Edinburgh lawyers, Glasgow shipyards,
    Boston fishermen, Chicago gangsters, Detroit engines, Houston suburbs, Dallas airports,
    Seattle bookshops, Toronto streets, Montreal restaurants, Sydney surfers,
    Melbourne trams, Cairo bazaars, Lagos harbours, Mumbai films, Delhi buses,
    Bangkok canals, Manila docks, Jakarta floods, Singapore students, Amsterdam bicycles,
    Brussels diplomats, Copenhagen bakers, Stockholm libraries, Oslo fjords,
    Helsinki architects, Lisbon tiles, Barcelona fans, Milan designers, Naples pizza,
    Venice gondolas, Geneva bankers, Munich breweries, Hamburg warehouses,
    Cologne printers, Frankfurt traders, Texas cattle, Florida oranges, Alaska bears,
    Ohio farms, Kansas tornadoes, Nevada casinos, Oregon forests, Georgia peaches,
    Iowa corn, Maine lobsters, Kentucky whiskey, Brazil nuts, Japan earthquakes,
    India rubber, China tea, Germany jokes, Bach fugues, Chopin nocturnes, Verdi operas,
    Rembrandt portraits, Monet paintings, Nazi officers, Communist leaders,
    Republican senators, Democratic voters, Conservative editors, Liberal governors,
    Marxist theory, Freudian dreams, Darwinian biology, Newtonian physics,
    Euclidean geometry, Bayesian statistics, Boolean logic, Cartesian coordinates,
    Internet users, Unix commands, Linux servers, Android phones, Google searches,
    Facebook friends, Twitter messages, Wikipedia articles, Hollywood actors,
    Broadway musicals, Manhattan apartments, Shinto shrines, Sufi poets, Sikh warriors,
    Zulu shields, Apache tribes, Navajo blankets, Maori carvings, Inuit hunters,
    Bantu languages, Slavic grammar, Germanic words, Turkic peoples, Semitic roots,
    Olympian gods, Martian dust, Lunar craters, Solar panels, Jurassic fossils
""")
"""Pairs of a word with a capital and a common noun that name nothing: the controls."""
